// What the command line says, and where things are.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const argument = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
export const BIN = argument('bin', join(root, 'target/release/attnscope'));
export const MODEL = argument('model', join(root, 'models/smollm2-135m-instruct.Q4_1.gguf'));
export const HEADS_MODEL = join(root, 'models/all-minilm-l6-v2');
export const RUNS = Number(argument('runs', 3));
export const ONLY = argument('only', '');
export const KEEP = process.argv.includes('--keep');
export const FOLDER = join(tmpdir(), 'attnscope-measure');
