// Questions about the open run. A server that was started anew, or needed the room, has forgotten it: then it is made again.

/** @import { HeadRef } from './api.js' */
/** @import { Meta, Source } from './contract.js' */
import * as api from './api.js';
import { ask } from './asking.js';
import { forgotten, loadView, obtain, sameRun } from './opening.js';
import { get } from './store.js';

/** The head in view. @returns {HeadRef} */
export function headRef() {
  const { trace, view } = get();
  return { trace: trace.value?.id ?? '', site: view.site, layer: view.layer, head: view.head };
}

/**
 * Asks about the open run; where the server has forgotten it, makes it again first.
 * @template T
 * @param {(ref: HeadRef) => Promise<T>} question
 * @returns {Promise<T>}
 */
export async function living(question) {
  const ref = headRef();
  try {
    return await question(ref);
  } catch (error) {
    if (!(error instanceof api.ApiError) || error.status !== 404) throw error;
    await remake(ref.trace);
    const { trace, wanted } = get();
    if (wanted) throw error;
    if (trace.value?.id === ref.trace && trace.error !== null) throw new api.ApiError(trace.error, 404);
    return question({ ...ref, trace: headRef().trace });
  }
}

/** @type {Promise<unknown> | null} */
let remaking = null;

/** Several questions may find the run gone at once: it is made once. @param {string} gone */
function remake(gone) {
  const { trace, wanted } = get();
  // While another run is waited for, the one that is shown has had its time.
  if (wanted || trace.value?.id !== gone) return remaking;
  remaking ??= makeAgain(trace.value).finally(() => (remaking = null));
  return remaking;
}

/**
 * The run again, of the very source it was of: a server started anew may have other sources.
 * @param {Meta} before
 */
async function makeAgain(before) {
  const { view, sources } = get();
  const was = sources.value?.find((s) => s.id === view.source);
  const meta = await ask(
    'trace',
    async (signal) => {
      const is = (await api.sources(signal)).find((s) => s.id === view.source);
      if (!was || !is || !alike(was, is)) throw new api.ApiError(GONE, 0);
      const run = await obtain(is, view, signal);
      if (!sameRun(before, run)) throw new api.ApiError(GONE, 0);
      return run;
    },
    (run) => (run.id === before.id ? {} : forgotten()),
  );
  if (meta && meta.id !== before.id) loadView();
}

const GONE =
  'That source is no longer here: the server was started again with others. Reload the page to see which it has now.';

/** @param {Source} a @param {Source} b */
const alike = (a, b) =>
  a.kind === b.kind && a.label === b.label && a.quantisation === b.quantisation && a.name === b.name;
