// A headless Chromium that is asked as little as possible. What drives a browser for tests also listens to its
// network, and then the page's process keeps the body of every answer: a page that asks for 40 kB a click seems to
// leak 40 MB in a thousand clicks. Here nothing is listened to.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens a page; `ask` speaks the DevTools protocol to it, `askBrowser` to the browser. */
export async function openBare(url, { width = 1440, height = 900, flags = [] } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'attnscope-bare-'));
  const child = spawn(
    process.env.CHROMIUM ?? '/usr/bin/chromium',
    [...flags, '--remote-debugging-pipe', '--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows', `--user-data-dir=${profile}`, `--window-size=${width},${height}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const waiting = new Map();
  let said = '';
  child.stdio[4].setEncoding('utf8').on('data', (text) => {
    const parts = (said + text).split('\0');
    said = parts.pop();
    for (const part of parts) {
      const { id, result, error } = JSON.parse(part);
      const answer = waiting.get(id);
      waiting.delete(id);
      if (error) answer?.reject(new Error(error.message));
      else answer?.resolve(result);
    }
  });
  let last = 0;
  const send = (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  const { targetInfos } = await send('Target.getTargets', {});
  const { targetId } = targetInfos.find((one) => one.type === 'page');
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params = {}) => send(method, params, sessionId);
  await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await ask('Page.navigate', { url });

  /** Runs a function in the page and gives what it comes to. */
  async function evaluate(run, argument) {
    const expression = `(${run})(${JSON.stringify(argument)})`;
    const { result, exceptionDetails } = await ask('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async function close() {
    send('Browser.close', {}).catch(() => {});
    await ended;
    rmSync(profile, { recursive: true, force: true });
  }
  return { ask, askBrowser: (method, params = {}) => send(method, params), evaluate, close };
}
