/** The injection token of a client's `TokenProvider`, for tests and factories. */
export function getTokenProviderToken(name?: string): string {
  return name === undefined ? 'TokenProvider' : `TokenProvider(${name})`
}
