// What ran, where and for how long: so that a figure can be traced back to its run.

import { readWords } from '../axes.js';
import { h } from '../dom.js';
import { Part } from './part.js';

export class RunFacts extends Part {
  begin() {
    this.watch(
      (s) => [s.trace.value],
      (meta) => {
        if (!meta) return this.show();
        const { model, isa, version, seconds } = meta;
        const facts = [
          `${model.name}, ${readWords(meta, { site: meta.encoder ? 'cross' : 'self' })}`,
          `run by attnscope ${version} on ${isa} in ${seconds < 0.1 ? 'less than 0.1' : seconds.toFixed(1)} s`,
        ];
        this.show(
          h(
            'p',
            null,
            facts.join(' · '),
            model.sha256
              ? h('span', { title: model.sha256 }, ` · weights SHA-256 ${model.sha256.slice(0, 12)}…`)
              : null,
          ),
        );
      },
    );
  }
}

customElements.define('run-facts', RunFacts);
