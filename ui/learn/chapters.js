// The chapters, in order. Each is a module of its own, loaded when it is opened.

/** @typedef {{name: string, tag: string, load: () => Promise<unknown>}} ChapterEntry */

/** @type {readonly ChapterEntry[]} */
export const CHAPTERS = [
  { name: 'Why tokens look at each other', tag: 'lesson-why', load: () => import('./chapters/01-why.js') },
  { name: 'Ask, offer, hand over', tag: 'lesson-roles', load: () => import('./chapters/02-roles.js') },
  { name: 'One pair, step by step', tag: 'lesson-pair', load: () => import('./chapters/03-pair.js') },
  { name: 'All pairs at once', tag: 'lesson-all-pairs', load: () => import('./chapters/04-all-pairs.js') },
  { name: 'Why divide by √d', tag: 'lesson-scale', load: () => import('./chapters/05-scale.js') },
  { name: 'Softmax is a budget', tag: 'lesson-budget', load: () => import('./chapters/06-budget.js') },
  { name: 'Mixing values', tag: 'lesson-mixing', load: () => import('./chapters/07-mixing.js') },
  { name: 'Shapes through a head', tag: 'lesson-shapes', load: () => import('./chapters/08-shapes.js') },
  { name: 'The mask', tag: 'lesson-mask', load: () => import('./chapters/09-mask.js') },
  { name: 'What can be cached', tag: 'lesson-cache', load: () => import('./chapters/10-cache.js') },
  { name: 'One head among many', tag: 'lesson-heads', load: () => import('./chapters/11-heads.js') },
  { name: 'The bill', tag: 'lesson-bill', load: () => import('./chapters/12-bill.js') },
  { name: 'What a map does not tell', tag: 'lesson-limits', load: () => import('./chapters/13-limits.js') },
];
