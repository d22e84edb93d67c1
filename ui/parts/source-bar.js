// Choosing what to look at: the source, and the text it reads.

/** @import { Asked } from '../store.js' */
/** @import { Meta, Source, Standing } from '../contract.js' */
import { chooseSource, chooseText } from '../actions.js';
import { standing as standingOf } from '../api.js';
import { handMade } from '../figures.js';
import { h } from '../dom.js';
import { stopRun } from '../opening.js';
import { get } from '../store.js';
import { Part } from './part.js';

/** Milliseconds between two questions how far a run is. */
const FOLLOW = 300;
/** A text up to this long, in characters, fits on a line. */
const SHORT = 90;

/** @type {[Source['kind'], string][]} */
const KINDS = [
  ['example', 'Built in'],
  ['model', 'Models'],
  ['trace', 'Traces'],
];

export class SourceBar extends Part {
  #text = h('textarea', { id: 'text', rows: '1', spellcheck: 'false', 'aria-describedby': 'text-hint' });

  begin() {
    this.watch(
      (s) => [s.sources, (s.wanted ?? s.view).source, (s.wanted ?? s.view).text, s.trace, s.notice],
      (...now) => this.#draw(...now),
    );
  }

  /**
   * @param {Asked<Source[]>} sources
   * @param {string | null} id
   * @param {string | null} text
   * @param {Asked<Meta>} trace
   * @param {string | null} notice
   */
  #draw(sources, id, text, trace, notice) {
    const source = sources.value?.find((s) => s.id === id);
    const trouble = sources.error ?? trace.error;
    // A text being typed must survive a redraw: it is only set when the view's text is another one.
    const wanted = text ?? source?.text ?? '';
    const shown = `${id} ${wanted}`;
    // A text that could not be read stays to be mended; what is shown is still of the one before.
    const draft = trace.error !== null && this.dataset.source === id;
    this.dataset.source = id ?? '';
    if (this.dataset.shown !== shown) {
      if (!draft) this.#text.value = wanted;
      this.#text.rows = wanted.length > SHORT ? 3 : 1;
      this.dataset.shown = shown;
    }
    this.show(
      h('label', { for: 'source', class: 'label' }, 'Source'),
      h(
        'select',
        {
          id: 'source',
          'data-focus': 'source',
          onchange: (event) => chooseSource(/** @type {HTMLSelectElement} */ (event.target).value),
        },
        kinds(sources.value ?? []).map(([name, those]) =>
          h(
            'optgroup',
            { label: name },
            those.map((s) => h('option', { value: s.id, selected: s.id === id }, nameOf(s))),
          ),
        ),
      ),
      source?.kind === 'example' ? handMade() : source?.note ? h('span', { class: 'note' }, source.note) : null,
      source && !source.text_fixed ? this.#form(source) : null,
      sources.value && !sources.value.some((s) => s.kind === 'model') ? howToGetOne() : null,
      sources.busy ? h('p', { class: 'status', role: 'status' }, 'Asking the server what it has…') : null,
      trace.busy ? waiting(source) : null,
      trouble ? h('p', { class: 'trouble', role: 'alert' }, trouble) : null,
      trace.error && trace.value && this.#text.value !== wanted && !source?.text_fixed
        ? h('p', { class: 'note' }, 'What is shown is still of the text before.')
        : null,
      notice ? h('p', { class: 'notice', role: 'status' }, notice) : null,
    );
  }

  /** @param {Source} source */
  #form(source) {
    const run = () => chooseText(this.#text.value);
    this.#text.onkeydown = (event) => {
      if (event.key !== 'Enter' || event.shiftKey) return;
      event.preventDefault();
      run();
    };
    this.#text.dataset.focus = 'text';
    return h(
      'div',
      { class: 'text-form' },
      h('label', { for: 'text', class: 'label' }, 'Text'),
      this.#text,
      h('button', { type: 'button', class: 'main', 'data-focus': 'run', onclick: run }, 'Run'),
      h(
        'small',
        { id: 'text-hint', class: 'note' },
        `Enter runs, Shift+Enter is a line break${source.max_tokens ? `; up to ${source.max_tokens.toLocaleString('en')} tokens` : ''}.`,
      ),
    );
  }
}

/** The sources by what they are, each kind with its name. @param {Source[]} sources @returns {[string, Source[]][]} */
function kinds(sources) {
  const found = KINDS.map(
    ([kind, name]) => /** @type {[string, Source[]]} */ ([name, sources.filter((s) => s.kind === kind)]),
  );
  return found.filter(([, those]) => those.length > 0);
}

/** Without a model there is only what is built in. */
const howToGetOne = () =>
  h(
    'span',
    { class: 'note' },
    'To look at a trained model: ',
    h('code', null, 'attnscope view MODEL'),
    ', a folder or a .gguf file.',
  );

/** @param {Source} source */
const nameOf = ({ label, quantisation }) => (quantisation ? `${label} (${quantisation})` : label);

/**
 * A run takes seconds: say what is going on and for how long. Another choice may be made meanwhile.
 * @param {Source | undefined} source
 */
function waiting(source) {
  const clock = h('span', { class: 'num', 'aria-hidden': 'true' });
  const stage = h('span', {});
  const line = h(
    'p',
    { class: 'status', role: 'status' },
    h('span', { class: 'spinner', 'aria-hidden': 'true' }),
    `Running ${source ? nameOf(source) : 'it'}… `,
    stage,
    clock,
    h('button', { type: 'button', class: 'quiet stop', 'data-focus': 'stop', onclick: stopRun }, 'Stop'),
  );
  const since = get().trace.since;
  const tick = () => {
    if (since !== get().trace.since || !get().trace.busy) return;
    const seconds = (performance.now() - since) / 1000;
    // A quick answer needs no clock, and no flash of one.
    line.classList.toggle('late', seconds > 0.25);
    clock.textContent = `${seconds.toFixed(1)} s`;
    setTimeout(tick, 100);
  };
  tick();
  const follow = async () => {
    if (since !== get().trace.since || !get().trace.busy) return;
    const standing = await standingOf();
    if (standing) stage.textContent = told(standing);
    setTimeout(follow, FOLLOW);
  };
  setTimeout(follow, FOLLOW);
  return line;
}

/** @param {Standing} standing */
function told({ ahead, done, all }) {
  if (ahead > 0) return `waiting for ${ahead} ${ahead === 1 ? 'run' : 'runs'} before it `;
  return all === 0 ? 'opening the model ' : `layer ${done} of ${all} `;
}

customElements.define('source-bar', SourceBar);
