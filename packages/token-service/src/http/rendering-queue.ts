import { setImmediate as nextTurn } from 'node:timers/promises'
import { Overloaded } from '../storage/storage-failure.ts'

/** How many requests wait at most: more would get their responses after their clients have left. */
const maxWaiting = 100

/** What anybody can have rendered without a session. */
export interface RenderingQueue {
  /** Resolves when it is the caller's turn. @throws {@link Overloaded} if too many wait */
  turn(): Promise<void>
}

/**
 * Rendering blocks all other requests for milliseconds. One page is rendered in each turn of the event loop, so that
 * requests for tokens are served in between.
 */
export function createRenderingQueue(): RenderingQueue {
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  return {
    async turn() {
      if (waiting >= maxWaiting) throw new Overloaded()
      waiting += 1
      last = last.then(() => nextTurn())
      await last
      waiting -= 1
    },
  }
}
