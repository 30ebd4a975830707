import { isTokenError } from './token-error.ts'

const digests = ['DYNAMIC_SERVER_USAGE', 'HANGING_PROMISE_REJECTION']

/**
 * Whether Next.js threw this to control its rendering: at an uncached `fetch` while it prerenders a page, which it then
 * renders for each request. It must reach Next.js unchanged: it is not a failure of the token endpoint.
 */
export function isNextjsSignal(error: unknown): boolean {
  return !isTokenError(error) && digests.includes(Object(error).digest)
}
