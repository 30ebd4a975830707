import type { Storage } from './storage.ts'

/** The storage could not do what it was asked; says why without what it was asked. */
export class StorageFailure extends Error {
  constructor(cause: unknown) {
    super(`The storage failed: ${rootReason(cause)}`)
    this.name = 'StorageFailure'
  }
}

/** Has every method of every part reject with a `StorageFailure`, whatever its driver throws. */
export function reportFailures(storage: Storage): Storage {
  return {
    ...storage,
    projects: wrapped(storage.projects),
    applications: wrapped(storage.applications),
    tokens: wrapped(storage.tokens),
    failures: wrapped(storage.failures),
    activity: wrapped(storage.activity),
    developers: wrapped(storage.developers),
    sessions: wrapped(storage.sessions),
  }
}

function wrapped<Part extends object>(part: Part): Part {
  const methods = Object.entries(part).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      Promise.resolve(method(...args)).catch((error: unknown) => {
        throw new StorageFailure(error)
      }),
  ])
  return Object.fromEntries(methods) as Part
}

/** The driver's own words: those of the layers above it quote the whole statement. */
export function rootReason(error: unknown): string {
  if (!(error instanceof Error)) return 'it gave no reason'
  if (error.cause !== undefined) return rootReason(error.cause)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
