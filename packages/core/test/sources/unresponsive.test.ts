import {
  backendTokens,
  clientAssertion,
  clientCredentials,
  clientCredentialsForResource,
  createTokenProvider,
  jwtBearer,
  type TokenProvider,
} from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'

useFakeTime()

const issuer = 'https://login.example.com/tenant'
const oauth = 'https://login.example.com/.well-known/oauth-authorization-server/tenant'
const openid = 'https://login.example.com/.well-known/openid-configuration/tenant'
const tokenEndpoint = 'https://login.example.com/token'
const api = 'https://api.example.com/mcp'
const resourceMetadata = 'https://api.example.com/.well-known/oauth-protected-resource/mcp'
const never = new Promise<never>(() => {})

const pages: Readonly<Record<string, object>> = {
  [oauth]: { issuer, token_endpoint: tokenEndpoint, revocation_endpoint: `${issuer}/revoke` },
  [tokenEndpoint]: { access_token: 'token', expires_in: 600 },
  [resourceMetadata]: { resource: api, authorization_servers: [issuer] },
}

/** Serves the pages; a request to one of `hanging` is never responded to. */
const fetchExcept =
  (...hanging: string[]) =>
  async (input: string | URL | Request) => {
    const url = String(input instanceof Request ? input.url : input)
    if (hanging.includes(url)) return never
    return pages[url] ? Response.json(pages[url]) : new Response('', { status: 401 })
  }

const client = { clientId: 'billing', clientSecret: 'secret' }
const atIssuer = (...hanging: string[]) => ({ ...client, issuer, fetch: fetchExcept(...hanging) })
const forResource = (...hanging: string[]) => ({
  ...client,
  protectedResource: api,
  trustedIssuers: [issuer],
  fetch: fetchExcept(...hanging),
})
const settings = { maxAttempts: 1, attemptTimeoutMs: 2_000 }

describe('the error of a token request that takes too long names', () => {
  it.each<[what: string, create: () => TokenProvider]>([
    [
      `The token endpoint ${tokenEndpoint}`,
      () => clientCredentials({ ...client, ...settings, tokenEndpoint, fetch: () => never }),
    ],
    [
      `The token endpoint ${tokenEndpoint}`,
      () => clientCredentials({ ...atIssuer(tokenEndpoint), ...settings }),
    ],
    [`The metadata ${oauth}`, () => clientCredentials({ ...atIssuer(oauth), ...settings })],
    [`The API ${api}`, () => clientCredentialsForResource({ ...forResource(api), ...settings })],
    [
      `The metadata ${resourceMetadata}`,
      () => clientCredentialsForResource({ ...forResource(resourceMetadata), ...settings }),
    ],
    [`The metadata ${oauth}`, () => clientCredentialsForResource({ ...forResource(oauth), ...settings })],
    [
      `The token endpoint ${tokenEndpoint}`,
      () => clientCredentialsForResource({ ...forResource(tokenEndpoint), ...settings }),
    ],
    [
      'The clientSecret function',
      () => clientCredentials({ ...client, ...settings, tokenEndpoint, clientSecret: () => never }),
    ],
    [
      'The client authentication',
      () =>
        clientCredentials({
          ...settings,
          clientId: 'billing',
          tokenEndpoint,
          clientAuthentication: clientAssertion(() => never),
        }),
    ],
    [
      'The assertion function',
      () =>
        jwtBearer({
          ...settings,
          clientId: 'billing',
          tokenEndpoint,
          assertion: () => never,
          subject: 'machine',
        }),
    ],
  ])('%s', async (what, create) => {
    const tokens = create()
    const call = watch(tokens.getToken())
    await pass(2_000)
    expect(call.error).toMatchObject({
      kind: 'unavailable',
      message: `${what} did not respond to "billing" within 2 s.`,
    })
  })

  it('each metadata URL in its turn, for every caller that shares the lookup', async () => {
    const fetch = fetchExcept(oauth, openid)
    const calls = [2_000, 4_000].map((attemptTimeoutMs) => {
      return watch(
        clientCredentials({ ...client, issuer, fetch, maxAttempts: 1, attemptTimeoutMs }).getToken(),
      )
    })
    await pass(4_000)
    expect(calls.map(({ error }) => (error as Error).message)).toEqual([
      `The metadata ${oauth} did not respond to "billing" within 2 s.`,
      `The metadata ${openid} did not respond to "billing" within 4 s.`,
    ])
  })

  it('the token route of a backend', async () => {
    const call = watch(
      backendTokens({ url: '/token?tenant=1', fetch: () => never, maxAttempts: 1 }).getToken(),
    )
    await pass(10_000)
    expect(call.error).toMatchObject({
      message: "The backend's token route /token did not respond within 10 s.",
    })
  })

  it('nothing that has responded before', async () => {
    const source = createGrantSource(atIssuer())
    const call = watch(
      createTokenProvider(
        {
          cacheKey: () => source.cacheKey(),
          requestToken: async (context) => {
            await source.requestToken(context)
            return never
          },
        },
        { maxAttempts: 1 },
      ).getToken(),
    )
    await pass(10_000)
    expect(call.error).toMatchObject({
      message: expect.stringMatching(/^The token source returned nothing within 10 s\./) as string,
    })
  })

  it('the endpoint of a revocation', async () => {
    const tokens = clientCredentials(atIssuer(`${issuer}/revoke`))
    await tokens.getToken()
    const call = watch(tokens.revoke())
    await pass(10_000)
    expect(call.error).toMatchObject({
      message: `The revocation endpoint ${issuer}/revoke did not respond to "billing" within 10 s.`,
    })
  })
})

it.each([
  [resourceMetadata, `Could not reach the metadata ${resourceMetadata} (ECONNREFUSED).`],
  [tokenEndpoint, `Could not reach the token endpoint ${tokenEndpoint} (ECONNREFUSED).`],
])('the error of a request to %s that fails names it', async (broken, message) => {
  const respond = fetchExcept()
  await expect(
    clientCredentialsForResource({
      ...client,
      protectedResource: api,
      trustedIssuers: [issuer],
      fetch: async (input) => {
        if (new Request(input).url === broken)
          throw new TypeError('failed', { cause: { code: 'ECONNREFUSED' } })
        return respond(input)
      },
      maxAttempts: 1,
    }).getToken(),
  ).rejects.toThrow(message)
})
