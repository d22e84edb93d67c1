// The list of chapters: beside the page where there is room, folded above it where there is not.

import { h } from '../dom.js';
import { Part } from '../parts/part.js';
import { CHAPTERS } from './chapters.js';
import { formatRoute, parseRoute } from './route.js';

const roomy = matchMedia('(min-width: 1200px)');

export class LessonContents extends Part {
  begin() {
    const draw = () => this.#draw();
    for (const [target, name] of /** @type {[EventTarget, string][]} */ ([
      [window, 'hashchange'],
      [roomy, 'change'],
    ])) {
      target.addEventListener(name, draw);
      this.until(() => target.removeEventListener(name, draw));
    }
    draw();
  }

  #draw() {
    const { chapter } = parseRoute(location.hash, CHAPTERS.length);
    const list = h(
      'ol',
      null,
      CHAPTERS.map((entry, i) =>
        h(
          'li',
          null,
          h(
            'a',
            {
              href: formatRoute(i + 1),
              'aria-current': i + 1 === chapter ? 'page' : null,
              'data-focus': `chapter${i}`,
            },
            h('span', { class: 'chapter-no' }, i + 1),
            entry.name,
          ),
        ),
      ),
    );
    if (roomy.matches) return this.show(h('nav', { 'aria-label': 'Chapters' }, list));
    this.show(
      h(
        'nav',
        { 'aria-label': 'Chapters' },
        h(
          'details',
          null,
          h('summary', { 'data-focus': 'chapters' }, `Chapter ${chapter} of ${CHAPTERS.length}`),
          list,
        ),
      ),
    );
  }
}

customElements.define('lesson-contents', LessonContents);
