// Answers that follow a hand. While a reader drags, the engine is asked again as soon as it has
// answered, always for the newest wish; those in between are skipped. Never two questions at once.

/**
 * @template W, A
 * @param {(wish: W, signal: AbortSignal) => Promise<A>} question
 * @param {(answer: A, wish: W) => void} answered
 * @param {(error: unknown) => void} failed
 * @returns {{ask: (wish: W) => void, stop: () => void}}
 */
export function follow(question, answered, failed) {
  const controller = new AbortController();
  /** @type {{wish: W} | null} */
  let next = null;
  let busy = false;

  async function run() {
    busy = true;
    while (next && !controller.signal.aborted) {
      const { wish } = next;
      next = null;
      try {
        const answer = await question(wish, controller.signal);
        if (!controller.signal.aborted) answered(answer, wish);
      } catch (error) {
        if (!controller.signal.aborted) failed(error);
      }
    }
    busy = false;
  }

  return {
    ask(wish) {
      next = { wish };
      if (!busy) run();
    },
    stop() {
      next = null;
      controller.abort();
    },
  };
}
