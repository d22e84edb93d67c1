// The real program: its server, and what its command line says about the same cell.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BUILT = fileURLToPath(new URL('../../target/release/attnscope', import.meta.url));

/** ATTNSCOPE_BIN, or the release build where there is one. */
export const BINARY = process.env.ATTNSCOPE_BIN ?? (existsSync(BUILT) ? BUILT : null);

/** Why tests of the real program cannot run, or false. */
export const noBinary = BINARY
  ? false
  : 'SKIPPED: there is no attnscope binary. Build it (cargo build --release) or name it in ATTNSCOPE_BIN.';

if (noBinary) console.error(noBinary);

/**
 * Starts `attnscope view SOURCE...`; the one line on its standard output is its address.
 * @param {...string} sources  the first is the one shown
 * @returns {Promise<{url: string, stop: () => Promise<void>}>}
 */
export async function view(...sources) {
  const child = spawn(/** @type {string} */ (BINARY), ['view', ...sources, '--port', '0', '--no-open'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await Promise.race([
    new Promise((resolve) => lines.once('line', resolve)),
    ended.then((code) => {
      throw new Error(`attnscope view ${sources.join(' ')} ended with ${code} before it named its address`);
    }),
  ]);
  return {
    url: String(url).trim().replace(/\/?$/, '/'),
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/**
 * What the command line says, as JSON.
 * @param {...(string | number)} args  without --json
 * @returns {Promise<any>}
 */
export async function cliJson(...args) {
  const { stdout } = await run(/** @type {string} */ (BINARY), [...args.map(String), '--json'], { maxBuffer: 1 << 28 });
  return JSON.parse(stdout);
}

/**
 * What the command line says about a cell.
 * @param {string} source
 * @param {{query: number, key: number, layer?: number, head?: number, text?: string, causal?: boolean}} of
 * @returns {Promise<any>}
 */
export async function cellJson(source, { query, key, layer = 0, head = 0, text, causal }) {
  const more = [...(text === undefined ? [] : ['--text', text]), ...(causal ? ['--causal'] : [])];
  const args = [
    'cell',
    source,
    '--layer',
    layer,
    '--head',
    head,
    '--query',
    query,
    '--key',
    key,
    '--json',
    ...more,
  ].map(String);
  const { stdout } = await run(/** @type {string} */ (BINARY), args, { maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

/**
 * What a running server calls the source with this label.
 * @param {string} url
 * @param {RegExp} label
 * @returns {Promise<string>}
 */
export async function idOf(url, label) {
  const { sources } = await (await fetch(`${url}api/sources`)).json();
  return sources.find((/** @type {{label: string}} */ source) => label.test(source.label)).id;
}
