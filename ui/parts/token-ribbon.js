// The text itself, shaded by the row in view: where does this token look? A click on a word makes
// it the one that asks.

/** @import { Meta, Row } from '../contract.js' */
/** @import { View } from '../address.js' */
import { choose } from '../actions.js';
import { h, vars } from '../dom.js';
import { named, tokenText } from '../figures.js';
import { show } from '../numbers.js';
import { css, inkOn, rampAt } from '../palette.js';
import { defaultScale, fraction } from '../scales.js';
import { spoken } from '../tokens.js';
import { Part } from './part.js';

/** More words than this are not a ribbon any more; then those around the query are shown. */
const MOST = 600;

export class TokenRibbon extends Part {
  begin() {
    this.watch((s) => [s.trace.value, s.row.value, s.view, s.theme], (meta, row, view, theme) => {
      if (!meta) return this.show();
      this.show(
        h('p', { class: 'label' }, 'Click a word to let it ask; the shade is how much it looks at each (', named('weight', 'weight'), ')'),
        h('p', { class: 'ribbon', dir: 'auto' }, words(meta, row, view, theme)),
      );
    });
  }
}

/**
 * @param {Meta} meta
 * @param {Row | null} row
 * @param {View} view
 * @param {'light' | 'dark'} theme
 */
function words(meta, row, view, theme) {
  const fits = meta.tokens.length <= MOST;
  const from = fits ? 0 : Math.max(0, Math.min(meta.tokens.length - MOST, (view.query ?? 0) - MOST / 2));
  const scale = view.scale ?? defaultScale(meta.kind);
  const spaced = meta.tokens.every((token) => !/\s/.test(token.text));
  return meta.tokens.slice(from, from + MOST).flatMap((token, i) => {
    const index = from + i;
    const weight = row?.weights[index] ?? null;
    const hidden = row ? row.mask[index] !== null : false;
    const classes = ['word', index === view.query && 'asks', index === view.key && 'answers', hidden && 'hidden'];
    const button = h(
      'button',
      {
        type: 'button', class: classes.filter(Boolean).join(' '), 'data-focus': `word${index}`, 'aria-pressed': String(index === view.query),
        'aria-label': `token ${index}, ${spoken(token)}${weight === null ? '' : hidden ? ', hidden' : `, weight ${show(weight)}`}`,
        onclick: () => choose({ query: index }),
      },
      tokenText(token),
    );
    if (weight !== null && !hidden) {
      const shade = rampAt(theme, fraction(scale, weight));
      vars(button, { '--shade': css(shade), '--ink-on': inkOn(shade) });
    }
    /** @type {(Node | string)[]} */
    const after = spaced ? [' '] : token.text.includes('\n') ? [h('br', null)] : [];
    return [button, ...after];
  });
}

customElements.define('token-ribbon', TokenRibbon);
