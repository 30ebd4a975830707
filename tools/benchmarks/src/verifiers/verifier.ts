/** What a verifier needs to accept a token: an issuer with one key, and its own access token. */
export interface Given {
  readonly issuer: string
  readonly audience: string
  readonly jwt: string
}

/** An API with an open and a protected route, `/open` and `/protected`, called without a network. */
export interface ProtectedApi {
  call(path: '/open' | '/protected', token: string): Promise<number>
  /** The token to call it with. */
  readonly token: string
}

export interface Verifier {
  readonly name: string
  readonly framework: 'Express' | 'Fastify'
  /** What it checks at each request. */
  readonly checks: string
  open(given: Given): Promise<ProtectedApi>
}
