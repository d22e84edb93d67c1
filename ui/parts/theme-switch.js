// Light or dark: the system's choice until a person makes another.

import { chooseTheme } from '../actions.js';
import { h } from '../dom.js';
import { get } from '../store.js';
import { Part } from './part.js';

const dark = matchMedia('(prefers-color-scheme: dark)');
const KEPT = 'attnscope-theme';
let chosen = remembered();

export class ThemeSwitch extends Part {
  begin() {
    // `first-paint.js` has set it before anything was drawn.
    chooseTheme(document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');
    const follow = () => chosen || chooseTheme(dark.matches ? 'dark' : 'light');
    dark.addEventListener('change', follow);
    this.until(() => dark.removeEventListener('change', follow));
    this.watch(
      (s) => [s.theme],
      (theme) => {
        document.documentElement.dataset.theme = theme;
        const other = theme === 'dark' ? 'light' : 'dark';
        this.show(
          h(
            'button',
            {
              type: 'button',
              class: 'quiet',
              'data-focus': 'theme',
              onclick: flip,
              'aria-label': `Switch to the ${other} page`,
            },
            other === 'dark' ? '☾ Dark' : '☀ Light',
          ),
        );
      },
    );
  }
}

function flip() {
  const theme = get().theme === 'dark' ? 'light' : 'dark';
  chooseTheme(theme);
  chosen = true;
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    // Storage may be off; the choice then lasts until the page is closed.
  }
}

/** Whether a theme was chosen on an earlier visit. */
function remembered() {
  try {
    return localStorage.getItem(KEPT) !== null;
  } catch {
    return false;
  }
}

customElements.define('theme-switch', ThemeSwitch);
