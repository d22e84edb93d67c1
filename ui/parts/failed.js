// What failed, and a way to ask for it again.

import { tryAgain } from '../actions.js';
import { h } from '../dom.js';

/** @param {string} error @param {string} focus  the button's name, for keeping the focus */
export const failed = (error, focus) =>
  h(
    'p',
    { class: 'trouble', role: 'alert' },
    error,
    ' ',
    h('button', { type: 'button', class: 'quiet', 'data-focus': focus, onclick: () => tryAgain() }, 'Try again'),
  );
