/** Where a peer requests its tokens. */
export interface Endpoint {
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where processes may share tokens. */
  readonly redisUrl?: string
}

/** A token, or an object that holds it. */
export type Token = string | { readonly value: string }

/** One client of the token endpoint, set up as in the peer's documentation. Members are absent where a peer lacks the feature. */
export interface PeerClient {
  /** A token from the peer's own cache, or a new one: what the peer itself returns, from which a program reads the text. */
  readonly getToken?: () => Promise<Token>
  /** A new token each time, for peers without a cache. */
  readonly requestToken?: () => Promise<string>
  /** The cached token, without waiting. */
  readonly peekToken?: () => string | undefined
  /** An API request with a token attached; resolves to its status. */
  readonly callApi?: (url: string) => Promise<number>
  /** One client per tenant, if the peer has its own way of caching them. */
  readonly forTenant?: (tenant: number) => { readonly getToken: () => Promise<unknown> }
}

export interface Peer {
  /** In tables. */
  readonly name: string
  /** The packages an application installs for it, without the HTTP client it already has. */
  readonly packages: readonly string[]
  /** The packages it works with, which an application that uses it already has. */
  readonly beside?: readonly string[]
  /** The HTTP client that it attaches tokens to. */
  readonly httpClient?: string
  /** What an application imports from them. */
  readonly imports: string
  /** The HTTP client without the peer: the difference is the cost of attaching a token. */
  readonly openPlain?: () => (url: string) => Promise<unknown>
  open(endpoint: Endpoint): PeerClient | Promise<PeerClient>
}
