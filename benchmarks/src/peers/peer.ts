/** Where a peer gets its tokens. */
export interface Endpoint {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where processes may share what they have. */
  readonly redisUrl?: string
}

/** One client of the token endpoint, set up as the peer's documentation says. What a peer does not do it leaves out. */
export interface PeerClient {
  /** A token out of the peer's own cache, or a new one. */
  readonly getToken?: () => Promise<string>
  /** A new token each time: what peers without a cache offer. */
  readonly askToken?: () => Promise<string>
  /** The token at hand, without waiting. */
  readonly peekToken?: () => string | undefined
  /** A request to the API with a token attached; answers with its status. */
  readonly callApi?: (url: string) => Promise<number>
  /** One client for each of many tenants, where the peer has a way of its own to keep them. */
  readonly forTenant?: (tenant: number) => { readonly getToken: () => Promise<unknown> }
}

export interface Peer {
  /** As the tables call it. */
  readonly name: string
  /** The packages an application installs for it, besides the HTTP client it has already. */
  readonly packages: readonly string[]
  /** The packages it works on, which an application that takes it has already. */
  readonly beside?: readonly string[]
  /** The HTTP client that it attaches tokens to. */
  readonly httpClient?: string
  /** What an application imports of them. */
  readonly imports: string
  /** The HTTP client without the peer: what a token adds to a request is the difference. */
  readonly openPlain?: () => (url: string) => Promise<unknown>
  open(endpoint: Endpoint): PeerClient | Promise<PeerClient>
}
