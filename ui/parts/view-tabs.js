// The views of one run, as tabs; and the lesson, where it is there.

/** @import { Tab } from '../address.js' */
import { chooseTab } from '../actions.js';
import { h } from '../dom.js';
import { get } from '../store.js';
import { Part } from './part.js';

/** @type {[Tab, string, string][]} */
const TABS = [
  ['cell', 'Cell', 'One weight worked out, beside the map of its head'],
  ['heads', 'Heads', 'Every head of the model at a glance'],
  ['text', 'Text', 'What the words of the text attend to'],
];

export class ViewTabs extends Part {
  #list = h('div', { role: 'tablist', 'aria-label': 'Views' });
  #learn = h('a', { class: 'tab learn', href: '/ui/learn.html', hidden: true }, 'Learn');

  begin() {
    this.#list.addEventListener('keydown', walk);
    this.replaceChildren(this.#list, this.#learn);
    fetch('/ui/learn.html', { method: 'HEAD' })
      .then((answer) => (this.#learn.hidden = !answer.ok))
      .catch(() => undefined);
    this.watch(
      (s) => [s.view.tab],
      (now) => {
        const had = this.#list.contains(document.activeElement);
        this.#list.replaceChildren(...TABS.map((tab) => button(tab, now)));
        const chosen = this.#list.querySelector('[aria-selected="true"]');
        if (had && chosen instanceof HTMLElement) chosen.focus({ preventScroll: true });
      },
    );
  }
}

/** @param {[Tab, string, string]} tab @param {Tab} now */
const button = ([tab, name, says], now) =>
  h(
    'button',
    {
      type: 'button',
      role: 'tab',
      class: 'tab',
      id: `tab-${tab}`,
      title: says,
      'aria-selected': String(tab === now),
      'aria-controls': `panel-${tab}`,
      tabindex: tab === now ? '0' : '-1',
      onclick: () => chooseTab(tab),
    },
    name,
  );

/** @param {KeyboardEvent} event */
function walk(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const at = TABS.findIndex(([tab]) => tab === get().view.tab);
  chooseTab(TABS[(at + by + TABS.length) % TABS.length][0]);
}

customElements.define('view-tabs', ViewTabs);
