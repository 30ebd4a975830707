import { describe, expect, it } from 'vitest'
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
  createTokenProvider,
  type AttachOptions,
  type BackendTokensOptions,
  type ClientCredentialsOptions,
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
    const tokens = createTokenProvider(
      clientCredentials({
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
      }),
      { store: undefined, timeoutMs: undefined, onEvent: undefined, clock: undefined },
    )
    const options = { allowedOrigins: ['https://api.example.com'], header: undefined, scheme: undefined }
    expect(
      createTokenFetch(tokens, { ...options, fetch: undefined, retryOnRejection: undefined }),
    ).toBeTypeOf('function')
  })
})

it('a provider, a pool and their tokens implement their interfaces', () => {
  // `fetch` is a FetchLike, and a TokenFetch can replace `fetch`.
  const tokens = createTokenProvider(
    clientCredentials({ tokenEndpoint: 'https://a.example.com', clientId: 'a', clientSecret: 'b', fetch }),
  )
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
