/** A timer that is later than this was held up by its own process. */
const blockedMs = 20

/**
 * Runs work with a signal that is aborted, with a `TimeoutError`, when it is late.
 *
 * While the process is blocked, no response can arrive: if it was at the end, the time is extended once by as much.
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // Not AbortSignal.timeout: its timer would outlive the work.
  const deadline = new AbortController()
  const abort = (): void => deadline.abort(new DOMException('', 'TimeoutError'))
  const dueAt = performance.now() + timeoutMs
  let timer = setTimeout(() => {
    const lateMs = performance.now() - dueAt
    if (lateMs < blockedMs) abort()
    else timer = setTimeout(abort, Math.min(lateMs, timeoutMs))
  }, timeoutMs)
  try {
    return await run(deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The result of work, or the reason of the signal if it is aborted first: a secret manager may never respond, and does
 * not know the signal.
 */
export function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
