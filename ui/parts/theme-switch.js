// Light or dark: the system's choice until a person makes another.

import { chooseTheme } from '../actions.js';
import { h } from '../dom.js';
import { get } from '../store.js';
import { Part } from './part.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

export class ThemeSwitch extends Part {
  begin() {
    const kept = remembered();
    chooseTheme(kept ?? (dark.matches ? 'dark' : 'light'));
    const follow = () => remembered() ?? chooseTheme(dark.matches ? 'dark' : 'light');
    dark.addEventListener('change', follow);
    this.until(() => dark.removeEventListener('change', follow));
    this.watch((s) => [s.theme], (theme) => {
      document.documentElement.dataset.theme = theme;
      const other = theme === 'dark' ? 'light' : 'dark';
      this.show(h('button', { type: 'button', class: 'quiet', 'data-focus': 'theme', onclick: flip, 'aria-label': `Switch to the ${other} page` }, other === 'dark' ? '☾ Dark' : '☀ Light'));
    });
  }
}

function flip() {
  const theme = get().theme === 'dark' ? 'light' : 'dark';
  chooseTheme(theme);
  try {
    localStorage.setItem('attnscope-theme', theme);
  } catch {
    // Storage may be off; the choice then lasts until the page is closed.
  }
}

/** @returns {'light' | 'dark' | null} */
function remembered() {
  try {
    const kept = localStorage.getItem('attnscope-theme');
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null;
  }
}

customElements.define('theme-switch', ThemeSwitch);
