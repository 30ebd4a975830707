/**
 * The token request of a provider that is sent through a client which attaches that provider's tokens: it would wait for
 * itself, so it is sent without a token. This file knows such requests. Symbols of the registry, because a program may have
 * two copies of this package.
 */
const owner = Symbol.for('tokenwell.sentBy')
const mark = Symbol.for('tokenwell.ownRequest')

type OwnedSignal = AbortSignal & { readonly [owner]?: unknown }

/** The provider whose source is being called, until the source waits for something: it may not pass on the signal. */
let calling: object | undefined

/** Calls a source. Requests during the call, and those with this signal, belong to the provider. */
export function callAs<Result>(provider: object, signal: AbortSignal, call: () => Result): Result {
  Object.defineProperty(signal, owner, { value: provider })
  calling = provider
  try {
    return call()
  } finally {
    calling = undefined
  }
}

/** Whether a request belongs to the token request of this provider. */
export function isSentBy(provider: object, signal: OwnedSignal | undefined): boolean {
  return calling === provider || signal?.[owner] === provider
}

/** Makes a signal that an adapter derives from another one belong to the same token request. For authors of adapters. */
export function keepOwner(from: OwnedSignal | undefined, derived: AbortSignal): void {
  const provider = from?.[owner]
  if (provider !== undefined) Object.defineProperty(derived, owner, { value: provider })
}

/** Marks the error of a call that would wait for itself. */
export function markOwnRequest<Failure extends Error>(error: Failure): Failure {
  return Object.defineProperty(error, mark, { value: true })
}

/** Whether an error says that a request is the token request itself, which carries no token. */
export function isOwnRequest(error: unknown): boolean {
  return typeof error === 'object' && error !== null && mark in error
}
