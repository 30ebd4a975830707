import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTokenVerifier,
  type TokenRequirements,
  type TokenVerificationError,
  type TokenVerifierOptions,
} from '@tokenwell/resource-server'
import { createFakeClock } from '@tokenwell/core/testing'
import { hasAuthlib, startAuthlib } from './servers/authlib.ts'
import { hasDoorkeeper, startDoorkeeper } from './servers/doorkeeper.ts'
import { resourceServer, resources, startOidcProvider } from './servers/oidc-provider.ts'

interface ForeignIssuer {
  readonly options: TokenVerifierOptions
  /** A token for this API; for another API or of another client otherwise. */
  requestToken(other?: boolean): Promise<string>
  readonly clientId: string
  readonly otherClaim: string
  close(): Promise<void>
}

async function request(url: string, client: string, form: Record<string, string>): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...form })
  const headers = { authorization: `Basic ${btoa(`${client}:${client}-secret`)}` }
  const response = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
    access_token: string
  }
  return response.access_token
}

/** What Authlib and Doorkeeper do not say in their tokens, `audience: false` makes up for. */
const withoutAudience = { audience: false, clients: ['client'], scopes: ['orders:read'] } as const

const issuers: Readonly<Record<string, () => Promise<ForeignIssuer>>> = {
  async 'oidc-provider'() {
    const oidc = await startOidcProvider()
    return {
      options: { issuer: oidc.issuer, audience: resources.jwt },
      requestToken: (other) => oidc.requestToken(other ? resources.otherJwt : resources.jwt),
      clientId: 'client',
      otherClaim: 'aud',
      close: () => oidc.close(),
    }
  },
  ...(hasAuthlib && {
    async Authlib() {
      const server = await startAuthlib()
      const { origin } = server
      return {
        options: {
          issuer: 'https://authlib.example',
          jwksUrl: `${origin}/keys`,
          typ: 'JWT',
          ...withoutAudience,
        },
        requestToken: (other) =>
          request(`${origin}/token`, other ? 'other' : 'client', { scope: 'orders:read' }),
        clientId: 'client',
        otherClaim: 'client_id',
        close: () => server.close(),
      }
    },
  }),
  ...(hasDoorkeeper && {
    async 'Doorkeeper with JWTs'() {
      const server = await startDoorkeeper('jwt')
      const { origin } = server
      return {
        options: {
          issuer: 'https://doorkeeper.example',
          jwksUrl: `${origin}/keys`,
          typ: 'JWT',
          ...withoutAudience,
        },
        requestToken: (other) =>
          request(`${origin}/oauth/token`, 'client', { scope: other ? 'orders:write' : 'orders:read' }),
        clientId: 'client',
        otherClaim: 'scope',
        close: () => server.close(),
      }
    },
    async 'Doorkeeper with opaque tokens'() {
      const server = await startDoorkeeper('opaque')
      const { origin } = server
      const introspection = { ...resourceServer, introspectionUrl: `${origin}/oauth/introspect` }
      return {
        options: { introspection, clients: ['client'], scopes: ['orders:read'] },
        requestToken: (other) =>
          request(`${origin}/oauth/token`, 'client', { scope: other ? 'orders:write' : 'orders:read' }),
        clientId: 'client',
        otherClaim: 'scope',
        close: () => server.close(),
      }
    },
  }),
}

describe.each(Object.entries(issuers))('%s', (_name, start) => {
  let issuer: ForeignIssuer
  beforeAll(async () => {
    issuer = await start()
  })
  afterAll(() => issuer?.close())

  const verify = (token: string, requirements?: TokenRequirements, options?: Partial<TokenVerifierOptions>) =>
    createTokenVerifier({ ...issuer.options, ...options }).verify(`Bearer ${token}`, requirements)

  it('its tokens are accepted, with the client', async () => {
    expect((await verify(await issuer.requestToken())).clientId).toBe(issuer.clientId)
  })

  it('a requirement is met or missed', async () => {
    const token = await issuer.requestToken()
    await expect(verify(token, { anyScope: ['orders:admin', 'orders:read'] })).resolves.toBeDefined()
    await expect(verify(token, { scopes: ['orders:admin'] })).rejects.toMatchObject({ status: 403 })
    await expect(verify(token, { claims: { client_id: 'other' } })).rejects.toMatchObject({ status: 403 })
  })

  it('tokens for another API, or of another client, are rejected with the reason', async () => {
    const failure: TokenVerificationError = await verify(await issuer.requestToken(true)).then(
      () => expect.unreachable(),
      (error: TokenVerificationError) => error,
    )
    expect(failure).toMatchObject({ status: 401, reason: { claim: issuer.otherClaim } })
  })

  it('expired tokens are rejected', async () => {
    const clock = createFakeClock()
    clock.setWall(Date.now() + 7_200_000)
    await expect(verify(await issuer.requestToken(), {}, { clock })).rejects.toMatchObject({
      status: 401,
      reason: { claim: 'exp' },
    })
  })

  it('tokens that are changed are rejected', async () => {
    const token = await issuer.requestToken()
    const changed = token.replace(/(?<=^|\.)[^.](?=[^.]*$)/, (first) => (first === 'A' ? 'B' : 'A'))
    await expect(verify(changed)).rejects.toMatchObject({ status: 401 })
  })
})

if (!hasAuthlib) it.skip('Authlib needs: apt-get install python3-authlib python3-flask', () => {})
if (!hasDoorkeeper)
  it.skip('Doorkeeper needs: apt-get install ruby-doorkeeper ruby-activerecord ruby-sqlite3 ruby-webrick ruby-jwt', () => {})
