// The real models of tools/fetch-models, and why tests of them cannot run.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { noBinary } from './binary.mjs';

const MODELS = process.env.ATTNSCOPE_MODELS ?? fileURLToPath(new URL('../../models', import.meta.url));

export const SMOLLM = `${MODELS}/smollm2-135m-instruct.Q4_1.gguf`;
export const MINILM = `${MODELS}/all-minilm-l6-v2`;

/**
 * Why tests of some models cannot run, or false; said aloud too.
 * @param {...string} models
 */
export function without(...models) {
  const missing = models.find((model) => !existsSync(model));
  const why = noBinary || (missing ? `SKIPPED: there is no ${missing}. Fetch it with tools/fetch-models.` : false);
  if (why && !noBinary) console.error(why);
  return why;
}
