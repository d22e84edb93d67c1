// Change one word and see which positions notice: with attention, and with all attention cut.

/** @import { Source, Token } from '../../contract.js' */
/** @import { Chapter } from '../chapter.js' */
/** @import { Cut, Example } from '../engine.js' */
import { h } from '../../dom.js';
import { num } from '../../figures.js';
import { button, choice } from '../controls/choice.js';
import { asToken, cut, scratch } from '../engine.js';
import { answer } from '../prose.js';
import { oneOf, unless, whole } from '../route.js';
import { plain } from '../../tokens.js';
import { bars } from './bars.js';

/** @typedef {{tokens: Token[], changed: number, from: string, to: string, heard: number[], cut: number[]}} Result */
/** @typedef {{position: number, to: string}} Wish */

/** The tokens of either text. */
const POSITIONS = 10;
/** The longest new word, in characters. */
const LONGEST = 30;

/**
 * @param {Chapter} chapter
 * @param {(wish: Wish, signal: AbortSignal) => Promise<Result>} question
 * @param {Wish} first
 * @param {(go: (to: string) => void, to: string) => Node} chooser
 * @param {readonly string[] | null} [words]  which the new word may be
 * @returns {{controls: HTMLElement, figure: HTMLElement}}
 */
function figure(chapter, question, first, chooser, words = null) {
  const told = answer();
  const place = h('div');
  const choosing = h('div', { class: 'chooser' });
  /** @type {Result | null} */
  let found = null;
  let severed = chapter.params.get('attention') === 'cut';
  /** @type {ReturnType<typeof bars> | null} */
  let list = null;
  let wish = kept(chapter, first, words);
  const box = h('div', { class: 'stack-figure' });
  const ask = chapter.follow(
    question,
    (result) => {
      const same = found?.tokens.map((t) => t.text).join('\n') === result.tokens.map((t) => t.text).join('\n');
      found = result;
      if (!same || !list) {
        list = bars({
          label: 'How much the final vector of each position changed',
          tokens: result.tokens,
          pick: (position) => go({ ...wish, position }),
          role: 'plain',
        });
        place.replaceChildren(list.element);
        choosing.replaceChildren(chooser((to) => go({ ...wish, to }), wish.to));
      }
      draw();
    },
    box,
  );
  const go = (/** @type {Wish} */ next) => {
    wish = next;
    chapter.keep({ change: unless(next.position, first.position), to: unless(next.to, first.to) });
    ask(next);
  };

  function draw() {
    if (!found || !list) return;
    const { heard, cut: alone, changed } = found;
    const values = severed ? alone : heard;
    list.update({
      values,
      at: changed,
      most: Math.max(...heard, ...alone),
      write: (v) => (v === 0 ? 'exactly 0' : num(v)),
    });
    const moved = values.filter((v) => v !== 0).length;
    told.says(
      `“${found.from}” became “${found.to}”. `,
      severed ? 'With all attention cut, ' : 'With attention, ',
      h('strong', null, `${moved} of ${values.length} positions`),
      moved === 1 && values[changed] !== 0
        ? ' changed: its own. Everywhere else the difference is exactly 0.'
        : ' came out different.',
    );
  }

  const controls = h(
    'div',
    { class: 'stack-figure' },
    choosing,
    choice(
      'Attention',
      [
        { value: 'on', text: 'On' },
        { value: 'cut', text: 'All cut' },
      ],
      severed ? 'cut' : 'on',
      (value) => {
        severed = value === 'cut';
        chapter.keep({ attention: severed ? 'cut' : null });
        draw();
      },
    ).element,
    told.element,
  );
  box.append(
    h('p', { class: 'label' }, 'Largest change in the final vector of each position. Click a word to change that one.'),
    place,
  );
  ask(wish);
  return { controls, figure: box };
}

/** What the address says is changed. @param {Chapter} chapter @param {Wish} first @param {readonly string[] | null} words @returns {Wish} */
function kept({ params }, first, words) {
  const to = words ? oneOf(params, 'to', words, first.to) : (params.get('to') || first.to).slice(0, LONGEST);
  return { position: whole(params, 'change', first.position, POSITIONS), to };
}

/** @param {Chapter} chapter @param {Source} source @param {string} text */
export function modelCut(chapter, source, text) {
  const to = h('input', {
    type: 'text',
    maxlength: LONGEST,
    class: 'sentence word',
    'aria-label': 'The new word',
  });
  return figure(
    chapter,
    async ({ position, to: replace }, signal) => {
      const found = /** @type {Cut} */ (await cut({ source: source.id, text, position, replace }, signal));
      const tokens = found.tokens.map(asToken);
      return {
        tokens,
        changed: position,
        from: plain(tokens[position]),
        to: replace,
        heard: found.with_attention,
        cut: found.without_attention,
      };
    },
    { position: 5, to: 'sea' },
    (go, word) => {
      to.value = word;
      const send = () => go(to.value.trim() || 'sea');
      to.addEventListener('change', send);
      return h(
        'label',
        { class: 'inline-field' },
        h('span', { class: 'label' }, 'The new word'),
        to,
        button('Change it', send),
      );
    },
  );
}

/** The same on the worked example, where a word takes over the row of another. @param {Chapter} chapter @param {Example} example */
export function exampleCut(chapter, { meta, worked }) {
  const silent = worked.w_o.map((row) => row.map(() => 0));
  const largest = (/** @type {number[][]} */ a, /** @type {number[][]} */ b) =>
    a.map((row, i) => Math.max(...row.map((v, c) => Math.abs(v - b[i][c]))));
  const names = ['robot', 'patient', 'tired', 'because'];
  return figure(
    chapter,
    async ({ position, to }, signal) => {
      const other = meta.tokens.findIndex((t) => t.text === to);
      const x = worked.x.map((row, i) => (i === position ? worked.x[other] : row));
      const [now, nowCut, wasCut] = await Promise.all([
        scratch({ causal: false, x }, signal),
        scratch({ causal: false, x, w_o: silent }, signal),
        scratch({ causal: false, w_o: silent }, signal),
      ]);
      return {
        tokens: meta.tokens,
        changed: position,
        from: meta.tokens[position].text,
        to,
        heard: largest(now.y, worked.y),
        cut: largest(nowCut.y, wasCut.y),
      };
    },
    { position: 1, to: 'patient' },
    (go, word) =>
      choice(
        'The new word',
        names.map((n) => ({ value: n, text: n })),
        word,
        go,
      ).element,
    names,
  );
}
