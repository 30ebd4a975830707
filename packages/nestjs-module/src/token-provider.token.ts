/** The injection token of a client's provider, for tests and factories. */
export function getTokenProviderToken(name?: string): string {
  return name === undefined ? 'TokenProvider' : `TokenProvider(${name})`
}
