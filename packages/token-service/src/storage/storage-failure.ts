import { UsageError } from '../runtime/usage-error.ts'
import type { Storage } from './storage.ts'

/** An operation of the storage failed; the message contains the reason, never a value. */
export class StorageFailure extends Error {
  constructor(cause: unknown) {
    super(`The storage failed: ${rootReason(cause)}`)
    this.name = 'StorageFailure'
  }
}

/**
 * Makes every method reject with a `StorageFailure`, for any error of the driver.
 *
 * @param unavailable the reason why the storage cannot be used yet, if there is one
 */
export function reportFailures(storage: Storage, unavailable: () => unknown = () => undefined): Storage {
  async function reported<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      const reason = unavailable()
      if (reason !== undefined) throw new StorageFailure(reason)
      return await call()
    } catch (error) {
      const isReported = error instanceof StorageFailure || error instanceof UsageError
      throw isReported ? error : new StorageFailure(error)
    }
  }

  function wrapped<Part extends object>(part: Part): Part {
    const methods = Object.entries(part).map(([name, method]) => [
      name,
      (...args: unknown[]) => reported(async (): Promise<unknown> => method(...args)),
    ])
    return Object.fromEntries(methods) as Part
  }

  function wrappedParts<Parts extends object>(parts: Parts): Parts {
    const entries = Object.entries(parts).map(([name, part]: [string, unknown]) => [
      name,
      typeof part === 'object' && part !== null && !(part instanceof Promise) ? wrapped(part) : part,
    ])
    return Object.fromEntries(entries) as Parts
  }

  return {
    ...wrappedParts(storage),
    probe: () => reported(() => storage.probe()),
    async transaction(work) {
      // What the work throws is no failure of the storage.
      let thrown: { readonly error: unknown } | undefined
      try {
        return await storage.transaction(async (stored) => {
          try {
            return await work(wrappedParts(stored))
          } catch (error) {
            thrown = { error }
            throw error
          }
        })
      } catch (error) {
        if (thrown) throw thrown.error
        return reported(() => Promise.reject(error))
      }
    },
  }
}

/** The driver's own message: those of the layers above it quote the whole statement. */
export function rootReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  if (error.cause !== undefined) return rootReason(error.cause)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
