import { describe, expect, it, vi } from 'vitest'
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
  type AttachOptions,
  type BackendTokensOptions,
  type ClientCredentialsOptions,
  type FetchLike,
  type GetTokenOptions,
  type TokenPoolOptions,
  type TokenProviderOptions,
} from '@tokenwell/core'

/** The optional members of a type that do not accept `undefined`. */
type Unwilling<Options> = {
  [Name in keyof Options]-?: object extends Pick<Options, Name>
    ? { [Member in Name]: undefined } extends Pick<Options, Name>
      ? never
      : Name
    : never
}[keyof Options]

/** A test at compile time: environment variables, which may be undefined, are accepted. */
describe('optional members', () => {
  it('accept undefined', () => {
    const none = <Options>(..._members: [Unwilling<Options>] extends [never] ? [] : [Unwilling<Options>]) => 0
    none<ClientCredentialsOptions>()
    none<TokenProviderOptions>()
    none<TokenPoolOptions>()
    none<AttachOptions>()
    none<BackendTokensOptions>()
    none<GetTokenOptions>()
    // @ts-expect-error this check can fail
    expect(none<{ unwilling?: string }>()).toBe(0)
  })

  it('accept environment variables', () => {
    const { AUTH_URL, SCOPE, AUDIENCE } = { ...process.env } as Record<string, string | undefined>
    const tokens = clientCredentials({
      authUrl: AUTH_URL,
      tokenEndpoint: AUTH_URL ? undefined : 'https://auth.example.com/token',
      clientId: 'client',
      clientSecret: 'secret',
      scope: SCOPE,
      audience: AUDIENCE,
      resource: undefined,
      parameters: undefined,
      expiresInUnit: undefined,
      fetch: undefined,
      allowInsecureRequests: undefined,
      dangerouslyAllowBrowser: undefined,
      clientAuthentication: undefined,
      store: undefined,
      timeoutMs: undefined,
      onEvent: undefined,
      clock: undefined,
    })
    const options = { allowedOrigins: ['https://api.example.com'], header: undefined, scheme: undefined }
    expect(
      createTokenFetch(tokens, { ...options, fetch: undefined, retryOnRejection: undefined }),
    ).toBeTypeOf('function')
  })
})

it('a provider, a pool and their tokens implement their interfaces', () => {
  // `fetch` is a FetchLike, and a TokenFetch can replace `fetch`.
  const tokens = clientCredentials({
    tokenEndpoint: 'https://a.example.com',
    clientId: 'a',
    clientSecret: 'b',
    fetch,
  })
  const replacement: (input: string | URL | Request, init?: RequestInit) => Promise<Response> =
    createTokenFetch(tokens, {
      allowedOrigins: ['https://api.example.com'],
      fetch,
    })
  const pool = createTokenPool((_tenant: 'a' | 'b') =>
    clientCredentials({ tokenEndpoint: 'https://a.example.com', clientId: 'a', clientSecret: 'b' }),
  )
  // @ts-expect-error a key that the pool does not have
  pool.for('c')
  expect(replacement).toBeTypeOf('function')
})

/** Other implementations declare types of their own, which are neither those of the runtime nor of each other. */
describe('the type of a fetch', () => {
  it('accepts that of node-fetch 2, and mocks', () => {
    interface OwnRequest {
      readonly url: string
      readonly size: number
    }
    interface OwnResponse {
      readonly status: number
      readonly buffer: () => Promise<Buffer>
    }
    const nodeFetch = null as unknown as (
      url: string | { readonly href: string } | OwnRequest,
      init?: {
        readonly method?: string
        readonly agent?: object
        readonly signal?: null | { aborted: boolean }
      },
    ) => Promise<OwnResponse>
    const fetches: FetchLike[] = [nodeFetch, vi.fn(), globalThis.fetch]
    // @ts-expect-error this check can fail
    fetches.push('fetch')
    expect(fetches).toHaveLength(4)
  })
})
