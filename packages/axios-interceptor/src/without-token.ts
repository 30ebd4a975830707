/**
 * Sends one request without a token. An object without visible members, because the type of axios' configuration cannot
 * be extended for all of its versions.
 *
 * @example
 * await api.get('/health', { ...withoutToken, timeout: 1000 })
 */
export const withoutToken: object = { token: false }

/** Whether a request was made with {@link withoutToken}. */
export function isWithoutToken(config: object): boolean {
  return (config as { readonly token?: unknown }).token === false
}
