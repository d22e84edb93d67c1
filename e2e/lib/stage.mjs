// What the browser tests of one `describe` share: a server and a Chromium, started before them and ended after.

/** @typedef {import('playwright-core').Browser} Browser */
/** @typedef {{url: string, stop: () => Promise<unknown>}} Server */
import { after, before } from 'node:test';
import { view } from './binary.mjs';
import { launch, open } from './browser.mjs';
import { StandIn } from './stand-in-server.mjs';

class Stage {
  /** Where the server answers, with a slash at its end. */
  url = '';
  /** @type {Browser} */
  browser = /** @type {any} */ (null);

  /** Opens the page. @param {Parameters<typeof open>[2]} [how] */
  open(how) {
    return open(this.browser, this.url, how);
  }
}

/** @template {Stage} T @param {T} stage @param {() => Promise<Server | null>} start  null where nothing is tested */
function staged(stage, start) {
  /** @type {Server | null} */
  let server = null;
  before(async () => {
    server = await start();
    if (!server) return;
    stage.url = server.url;
    stage.browser = await launch();
  });
  after(async () => {
    await stage.browser?.close();
    await server?.stop();
  });
  return stage;
}

/** With the stand-in for a server, `server`, whose answers a test can bend. */
export function standIn() {
  const server = new StandIn();
  return staged(Object.assign(new Stage(), { server }), async () => ({
    url: await server.start(),
    stop: () => server.stop(),
  }));
}

/**
 * With the real program.
 * @param {string | false} why  why its tests are skipped
 * @param {() => string[] | Promise<string[]>} sources  what it shows, the first at once
 */
export const program = (why, sources) => staged(new Stage(), async () => (why ? null : view(...(await sources()))));
