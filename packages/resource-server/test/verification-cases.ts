import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK, type CryptoKey } from 'jose'
import { expect } from 'vitest'
import type { ApiConfigs, routes } from './apis/api-config.ts'
import type { AuthorizationServers } from './authorization-servers.ts'
import { createDpopKey, audience, createSigningKey } from './servers/jwt-issuer.ts'
import { resourceServer, resources } from './servers/oidc-provider.ts'

/** The properties of an accepted token that an API returns. */
interface Accepted {
  readonly status: 200
  readonly token: object | string
}

interface Rejected {
  readonly status: 400 | 401 | 403 | 503
  readonly challenge?: string
  readonly body?: object
  readonly retryAfter?: string
}

/** One request, and the response of every framework to it. */
export interface VerificationCase {
  readonly title: string
  readonly api: keyof ReturnType<typeof apiConfigs>
  /** @default 'any' */
  readonly route?: keyof typeof routes
  readonly query?: string
  readonly headers: (
    servers: AuthorizationServers,
    url: string,
  ) => Promise<Record<string, string | string[]>> | Record<string, string | string[]>
  readonly expected: Accepted | Rejected
  /** Needs a program that may not be installed. */
  readonly needs?: 'authlib'
}

/** Nothing is cached: no case depends on another. */
export function apiConfigs(servers: AuthorizationServers) {
  const { platform, oidc, jwt, lying, authlib } = servers
  const introspection = { ...resourceServer, cacheMs: 0 }
  const platformApi = { introspection: { ...introspection, authUrl: platform.authUrl }, realm: 'orders' }
  const closed = 'http://127.0.0.1:9'
  return {
    platform: platformApi,
    classic: { ...platformApi, errors: 'platform' },
    downClassic: { introspection: { ...introspection, authUrl: closed }, errors: 'platform' },
    wrongSecret: { introspection: { ...introspection, clientSecret: 'wrong', authUrl: platform.authUrl } },
    post: {
      introspection: {
        ...introspection,
        authUrl: platform.authUrl,
        clientAuthentication: 'client_secret_post',
      },
    },
    opaque: {
      introspection: { ...introspection, introspectionUrl: `${oidc.issuer}/token/introspection` },
      audience: resources.opaque,
    },
    oidcJwt: { issuer: oidc.issuer, audience: resources.jwt },
    both: {
      introspection: { ...introspection, introspectionUrl: `${oidc.issuer}/token/introspection` },
      issuer: oidc.issuer,
      audience: [resources.jwt, resources.opaque],
    },
    authlib: {
      introspection: {
        ...introspection,
        introspectionUrl: authlib ? `${authlib.origin}/introspect` : closed,
      },
    },
    jwt: { issuer: jwt.issuer, audience },
    jwtAnyType: { issuer: jwt.issuer, audience, typ: 'JWT', scopes: ['orders:read'] },
    rs256Only: { issuer: jwt.issuer, audience, algorithms: ['RS256'] },
    rotation: { issuer: jwt.issuer, audience, jwksUrl: `${jwt.issuer}/jwks` },
    keysDown: { issuer: jwt.issuer, audience, jwksUrl: `${closed}/jwks` },
    keysMissing: { issuer: jwt.issuer, audience, jwksUrl: `${jwt.issuer}/nothing` },
    undiscovered: { issuer: `${jwt.issuer}/tenant`, audience },
    down: { introspection: { ...introspection, authUrl: closed } },
    lying: { introspection: { ...introspection, introspectionUrl: lying.origin, timeoutMs: 500 }, audience },
    dpop: { issuer: jwt.issuer, audience, dpop: {} },
    dpopRequired: { issuer: jwt.issuer, audience, dpop: { required: true, algorithms: ['ES256'] } },
    oidcDpop: { issuer: oidc.issuer, audience: resources.jwt },
  } as const satisfies ApiConfigs
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const invalidDescription = 'error="invalid_token", error_description="The access token is invalid or expired"'
const invalid = (realm = 'api'): Rejected => ({
  status: 401,
  challenge: `Bearer realm="${realm}", ${invalidDescription}`,
  body: { error: 'invalid_token', error_description: 'The access token is invalid or expired.' },
})
const missingMessage = 'This API requires an access token. Send "Authorization: Bearer <token>".'
const missing = (challenge: string, message = missingMessage): Rejected => ({
  status: 401,
  challenge,
  body: { error_description: message },
})
const twice = (realm = 'orders'): Rejected => ({
  status: 400,
  challenge: `Bearer realm="${realm}", error="invalid_request", error_description="The request carries more than one access token"`,
  body: { error: 'invalid_request', error_description: 'The request carries more than one access token.' },
})
const unavailable: Rejected = {
  status: 503,
  retryAfter: '5',
  body: {
    error: 'unavailable',
    error_description: 'The access token cannot be checked at the moment. Try again in a few seconds.',
  },
}
const insufficient = (description: string, scope?: string, realm = 'orders'): Rejected => ({
  status: 403,
  challenge: `Bearer realm="${realm}", error="insufficient_scope", error_description="${description}"${
    scope ? `, scope="${scope}"` : ''
  }`,
  body: { error: 'insufficient_scope', error_description: `${description}.` },
})
const accepted = (token: object): Accepted => ({ status: 200, token })

const fault = (faultstring: string, errorcode: string): object => ({
  fault: { faultstring, detail: { errorcode } },
})

/** A JWT from arbitrary parts. */
function forge(header: object, payload: object, signature: (input: string) => string): string {
  const [head, body] = [header, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return `${head}.${body}.${signature(`${head}.${body}`)}`
}

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>

const now = (): number => Math.floor(Date.now() / 1000)

const signed =
  (claims?: Record<string, unknown>, header?: Record<string, unknown>) =>
  async ({ jwt }: AuthorizationServers) =>
    bearer(await jwt.sign(claims, header))

/** The scripted endpoint returns the response that the token contains. */
const respondingWith = (response: object) => () =>
  bearer(Buffer.from(JSON.stringify(response)).toString('base64url'))

const introspected = (body: unknown) =>
  respondingWith({ body: typeof body === 'string' ? body : JSON.stringify(body) })

type Prove = Awaited<ReturnType<typeof createDpopKey>>['prove']

/** A bound token with a proof that a case may change. */
const proven =
  (
    spoil: {
      readonly claims?: Record<string, unknown>
      readonly header?: Record<string, unknown>
      readonly scheme?: string
      readonly url?: (url: string) => string
      readonly bound?: boolean
      readonly other?: boolean
      readonly proof?: (proof: string) => string | string[] | undefined
      readonly method?: string
    } = {},
  ) =>
  async ({ jwt }: AuthorizationServers, url: string) => {
    const key = await createDpopKey()
    const token = await jwt.sign(spoil.bound === false ? {} : { cnf: { jkt: key.thumbprint } })
    const prove: Prove = spoil.other ? (await createDpopKey()).prove : key.prove
    const request = { method: spoil.method ?? 'GET', url: (spoil.url ?? ((same) => same))(url), token }
    const proof = await prove(request, spoil.claims, spoil.header)
    const dpop = spoil.proof ? spoil.proof(proof) : proof
    return { authorization: `${spoil.scheme ?? 'DPoP'} ${token}`, ...(dpop !== undefined && { dpop }) }
  }
const algs = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'
const badProof = (description: string): Rejected => ({
  status: 401,
  challenge: `DPoP realm="api", error="invalid_dpop_proof", error_description="${description}", algs="${algs}"`,
  body: { error: 'invalid_dpop_proof', error_description: `${description}.` },
})
const malformedProof = badProof('The DPoP proof is malformed or not signed by its key')
/** By how much depends on when the request arrives. */
const proofOfWrongTime: Rejected = {
  status: 401,
  challenge: expect.stringMatching(
    / was created \d+ s (?:ago|in the future)\. Check the clock of the client", /,
  ) as string,
  body: {
    error: 'invalid_dpop_proof',
    error_description: expect.stringMatching(/ Check the clock of the client\.$/),
  },
}

export const verificationCases: readonly VerificationCase[] = [
  // Credentials
  {
    title: 'no credentials',
    api: 'platform',
    headers: () => ({}),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'an empty header',
    api: 'platform',
    headers: () => ({ authorization: '' }),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'the scheme alone',
    api: 'platform',
    headers: () => ({ authorization: 'Bearer' }),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'another scheme',
    api: 'platform',
    headers: () => ({ authorization: 'Basic Zm9vOmJhcg==' }),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'a token without a scheme',
    api: 'platform',
    headers: ({ platformToken }) => ({ authorization: platformToken }),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'a token in the query alone',
    api: 'platform',
    query: '?access_token=abc',
    headers: () => ({}),
    expected: missing('Bearer realm="orders"'),
  },
  {
    title: 'a token in the header and another in the query',
    api: 'platform',
    query: '?page=2&access_token=abc',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: twice(),
  },
  {
    title: 'a token in the header and another in the query, whose name is encoded',
    api: 'platform',
    query: '?access%5Ftoken=abc',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: twice(),
  },
  {
    title: 'two Authorization headers',
    api: 'platform',
    headers: ({ platformToken }) => ({ authorization: [`Bearer ${platformToken}`, 'Bearer other'] }),
    expected: twice(),
  },
  {
    title: 'two tokens in one header',
    api: 'platform',
    headers: ({ platformToken }) => ({ authorization: `Bearer ${platformToken}, Bearer other` }),
    expected: twice(),
  },
  ...['two words', 'quo"te', 'a,b', 'a==b', 'ümlaut'].map((token): VerificationCase => ({
    title: `the malformed token ${token}`,
    api: 'platform',
    headers: () => ({ authorization: Buffer.from(`Bearer ${token}`, 'utf8').toString('latin1') }),
    expected: invalid('orders'),
  })),
  {
    title: 'the scheme in another case, with two spaces',
    api: 'platform',
    headers: ({ platformToken }) => ({ authorization: `bEARER  ${platformToken}` }),
    expected: accepted({ clientId: 'client' }),
  },

  // Our token service
  {
    title: 'a valid token',
    api: 'platform',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: accepted({ clientId: 'client', products: ['orders', 'translation'], scopes: [] }),
  },
  {
    title: 'a valid token, with our own credentials in the body',
    api: 'post',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'an unknown token',
    api: 'platform',
    headers: () => bearer('unknown'),
    expected: invalid('orders'),
  },
  {
    title: 'a revoked token',
    api: 'platform',
    headers: ({ platformRevoked }) => bearer(platformRevoked),
    expected: invalid('orders'),
  },
  {
    title: 'a token that covers the product',
    api: 'platform',
    route: 'product',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a token that covers one product of two',
    api: 'platform',
    route: 'products',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: insufficient('The access token does not cover the product invoices'),
  },
  {
    title: 'a token without the scope',
    api: 'platform',
    route: 'scope',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: insufficient('The access token does not cover the scope orders:read', 'orders:read'),
  },
  {
    title: 'a token that lacks products and scopes',
    api: 'platform',
    route: 'all',
    headers: ({ platformOther }) => bearer(platformOther),
    expected: insufficient(
      'The access token does not cover the product orders and the scopes orders:read, orders:write',
      'orders:read orders:write',
    ),
  },
  {
    title: 'no credentials, with the bodies of the gateway',
    api: 'classic',
    headers: () => ({}),
    expected: {
      status: 401,
      challenge: 'Bearer realm="orders"',
      body: fault(missingMessage, 'oauth.v2.InvalidRequest'),
    },
  },
  {
    title: 'an unknown token, with the bodies of the gateway',
    api: 'classic',
    headers: () => bearer('unknown'),
    expected: {
      ...invalid('orders'),
      body: fault('Invalid Access Token', 'keymanagement.service.invalid_access_token'),
    },
  },
  {
    title: 'a token without the product, with the bodies of the gateway',
    api: 'classic',
    route: 'products',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: {
      ...insufficient('The access token does not cover the product invoices'),
      body: fault(
        'Invalid API call as no apiproduct match found',
        'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound',
      ),
    },
  },
  {
    title: 'a token without the scope, with the bodies of the gateway',
    api: 'classic',
    route: 'scope',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: {
      ...insufficient('The access token does not cover the scope orders:read', 'orders:read'),
      body: fault('Required scope(s) : orders:read', 'steps.oauth.v2.InsufficientScope'),
    },
  },
  {
    title: 'the token service down, with the bodies of the gateway',
    api: 'downClassic',
    headers: () => bearer('any'),
    expected: {
      ...unavailable,
      body: fault(
        'The access token cannot be checked at the moment. Try again in a few seconds.',
        'messaging.adaptors.http.flow.ServiceUnavailable',
      ),
    },
  },
  {
    title: 'our own credentials being wrong',
    api: 'wrongSecret',
    headers: ({ platformToken }) => bearer(platformToken),
    expected: unavailable,
  },
  { title: 'the token service down', api: 'down', headers: () => bearer('any'), expected: unavailable },

  // oidc-provider
  {
    title: 'a valid opaque token of oidc-provider',
    api: 'opaque',
    route: 'scope',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.opaque)),
    expected: accepted({ clientId: 'client', scopes: ['orders:read'], audience: [resources.opaque] }),
  },
  {
    title: 'a revoked opaque token of oidc-provider',
    api: 'opaque',
    headers: async ({ oidc }) => {
      const token = await oidc.requestToken(resources.opaque)
      await oidc.revoke(token)
      return bearer(token)
    },
    expected: invalid(),
  },
  {
    title: 'an opaque token of oidc-provider with too small a scope',
    api: 'opaque',
    route: 'all',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.opaque)),
    expected: insufficient(
      'The access token does not cover the product orders and the scope orders:write',
      'orders:read orders:write',
      'api',
    ),
  },
  {
    title: 'a JWT of oidc-provider',
    api: 'oidcJwt',
    route: 'scope',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.jwt)),
    expected: accepted({ clientId: 'client', scopes: ['orders:read'], audience: [resources.jwt] }),
  },
  {
    title: 'a JWT of oidc-provider for another API',
    api: 'oidcJwt',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.other)),
    expected: invalid(),
  },
  {
    title: 'an opaque token where only JWTs are accepted',
    api: 'oidcJwt',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.opaque)),
    expected: invalid(),
  },
  {
    title: 'an opaque token where both are accepted',
    api: 'both',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.opaque)),
    expected: accepted({ audience: [resources.opaque] }),
  },
  {
    title: 'a JWT where both are accepted',
    api: 'both',
    headers: async ({ oidc }) => bearer(await oidc.requestToken(resources.jwt)),
    expected: accepted({ audience: [resources.jwt] }),
  },
  {
    title: 'a JWT of another issuer where both are accepted',
    api: 'both',
    headers: signed({ aud: resources.jwt }),
    expected: invalid(),
  },
  {
    title: 'a DPoP-bound token of oidc-provider',
    api: 'oidcDpop',
    headers: async ({ oidc }, url) => {
      const { prove } = await createDpopKey()
      const dpop = await prove({ method: 'POST', url: `${oidc.issuer}/token` })
      const token = await oidc.requestToken(resources.jwt, { dpop })
      return { authorization: `DPoP ${token}`, dpop: await prove({ method: 'GET', url, token }) }
    },
    expected: accepted({ clientId: 'client' }),
  },

  // Authlib
  {
    title: 'a valid token of Authlib',
    api: 'authlib',
    route: 'scope',
    needs: 'authlib',
    headers: () => bearer('valid'),
    expected: accepted({ clientId: 'client', scopes: ['orders:read'] }),
  },
  ...['expired', 'revoked', 'unknown'].map((token): VerificationCase => ({
    title: `${token === 'unknown' ? 'a token unknown to' : `a token ${token} at`} Authlib`,
    api: 'authlib',
    needs: 'authlib',
    headers: () => bearer(token),
    expected: invalid(),
  })),

  // JWTs
  {
    title: 'a valid JWT',
    api: 'jwt',
    route: 'product',
    headers: signed(),
    expected: accepted({ clientId: 'client', products: ['orders'], subject: 'client' }),
  },
  {
    title: 'a JWT with several audiences',
    api: 'jwt',
    headers: signed({ aud: ['https://other.example.com', audience] }),
    expected: accepted({ audience: ['https://other.example.com', audience] }),
  },
  {
    title: 'a JWT that expired within the tolerance',
    api: 'jwt',
    headers: async ({ jwt }) => bearer(await jwt.sign({ exp: now() - 2 })),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a JWT with its scopes in scp',
    api: 'jwt',
    route: 'scope',
    headers: signed({ scope: undefined, scp: ['orders:read'] }),
    expected: accepted({ scopes: ['orders:read'] }),
  },
  {
    title: 'a JWT with typ application/at+jwt',
    api: 'jwt',
    headers: signed({}, { typ: 'application/at+jwt' }),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a JWT of a server with its own typ',
    api: 'jwtAnyType',
    headers: signed({ jti: undefined, client_id: undefined }, { typ: 'JWT' }),
    expected: accepted({ subject: 'client' }),
  },
  {
    title: 'a JWT without a key ID',
    api: 'jwt',
    headers: signed({}, { kid: undefined }),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'an expired JWT',
    api: 'jwt',
    headers: async ({ jwt }) => bearer(await jwt.sign({ exp: now() - 60 })),
    expected: invalid(),
  },
  {
    title: 'a JWT that is not valid yet',
    api: 'jwt',
    headers: async ({ jwt }) => bearer(await jwt.sign({ nbf: now() + 60 })),
    expected: invalid(),
  },
  {
    title: 'a JWT of another issuer',
    api: 'jwt',
    headers: signed({ iss: 'https://evil.example.com' }),
    expected: invalid(),
  },
  {
    title: 'a JWT for another audience',
    api: 'jwt',
    headers: signed({ aud: 'https://other.example.com' }),
    expected: invalid(),
  },
  {
    title: 'a JWT for an audience that begins alike',
    api: 'jwt',
    headers: signed({ aud: `${audience}.evil.example` }),
    expected: invalid(),
  },
  { title: 'a JWT with typ JWT', api: 'jwt', headers: signed({}, { typ: 'JWT' }), expected: invalid() },
  { title: 'a JWT without typ', api: 'jwt', headers: signed({}, { typ: undefined }), expected: invalid() },
  {
    title: 'an ID token',
    api: 'jwtAnyType',
    headers: signed({ aud: 'client' }, { typ: 'JWT' }),
    expected: invalid(),
  },
  ...(['iss', 'aud', 'exp', 'sub', 'client_id', 'iat', 'jti'] as const).map((claim): VerificationCase => ({
    title: `a JWT without ${claim}`,
    api: 'jwt',
    headers: signed({ [claim]: undefined }),
    expected: invalid(),
  })),
  {
    title: 'a JWT that is not signed: alg none',
    api: 'jwt',
    headers: async ({ jwt }) =>
      bearer(forge({ alg: 'none', typ: 'at+jwt' }, claimsOf(await jwt.sign()), () => '')),
    expected: invalid(),
  },
  {
    title: 'a JWT signed by HS256 with the public key',
    api: 'jwt',
    headers: async ({ jwt }) => {
      const { publicJwk } = jwt.keys[0]!
      const secret = await exportSPKI((await importJWK(publicJwk, 'ES256')) as CryptoKey)
      const header = { alg: 'HS256', typ: 'at+jwt', kid: publicJwk.kid }
      const sign = (input: string) => createHmac('sha256', secret).update(input).digest('base64url')
      return bearer(forge(header, claimsOf(await jwt.sign()), sign))
    },
    expected: invalid(),
  },
  {
    title: 'a JWT signed by another key under a known key ID',
    api: 'jwt',
    headers: async ({ jwt }) => {
      const foreignKey = await createSigningKey('ES256', jwt.keys[0]!.publicJwk.kid)
      return bearer(await jwt.sign({}, {}, foreignKey))
    },
    expected: invalid(),
  },
  {
    title: 'a JWT under an unknown key ID',
    api: 'jwt',
    headers: async ({ jwt }) => bearer(await jwt.sign({}, {}, await createSigningKey())),
    expected: invalid(),
  },
  {
    title: 'a JWT that brings its own key',
    api: 'jwt',
    headers: async ({ jwt }) => {
      const foreignKey = await createSigningKey()
      return bearer(await jwt.sign({}, { jwk: foreignKey.publicJwk }, foreignKey))
    },
    expected: invalid(),
  },
  {
    title: 'a JWT with changed claims',
    api: 'jwt',
    headers: async ({ jwt }) => {
      const [head, body, signature] = (await jwt.sign()).split('.') as [string, string, string]
      const changed = { ...claimsOf(`.${body}`), api_products: ['orders', 'invoices'] }
      return bearer(`${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`)
    },
    expected: invalid(),
  },
  {
    title: 'a JWT with a critical extension',
    api: 'jwt',
    headers: async ({ jwt }) =>
      bearer(
        forge(
          { alg: 'ES256', typ: 'at+jwt', crit: ['exotic'], exotic: 1 },
          claimsOf(await jwt.sign()),
          () => 'AAAA',
        ),
      ),
    expected: invalid(),
  },
  {
    title: 'a JWT by an algorithm that is not allowed',
    api: 'rs256Only',
    headers: signed(),
    expected: invalid(),
  },
  {
    title: 'a JWT while its keys cannot be loaded',
    api: 'keysDown',
    headers: signed(),
    expected: unavailable,
  },
  {
    title: 'a JWT while its keys are not found',
    api: 'keysMissing',
    headers: signed(),
    expected: unavailable,
  },
  {
    title: 'a JWT of an issuer without metadata',
    api: 'undiscovered',
    headers: async ({ jwt }) => bearer(await jwt.sign({ iss: `${jwt.issuer}/tenant` })),
    expected: unavailable,
  },

  // Requirements
  {
    title: 'a JWT with one of two scopes',
    api: 'jwt',
    route: 'anyScope',
    headers: signed({ scope: 'other orders:admin' }),
    expected: accepted({ scopes: ['other', 'orders:admin'] }),
  },
  {
    title: 'a JWT with none of two scopes',
    api: 'jwt',
    route: 'anyScope',
    headers: signed({ scope: 'orders:readers' }),
    expected: insufficient(
      'The access token does not cover one of the scopes orders:read, orders:admin',
      'orders:read',
      'api',
    ),
  },
  {
    title: 'a JWT with the claims of a route',
    api: 'jwt',
    route: 'claims',
    headers: signed({ roles: ['writer', 'reader'], 'kubernetes.io': { namespace: 'test' } }),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a JWT without one of two roles, and with another namespace',
    api: 'jwt',
    route: 'claims',
    headers: signed({ roles: ['reader'], 'kubernetes.io': { namespace: 'shop.evil' } }),
    expected: insufficient(
      'The access token does not cover the required values of roles, kubernetes.io.namespace',
      undefined,
      'api',
    ),
  },
  {
    title: 'a JWT that meets a condition',
    api: 'jwt',
    route: 'where',
    headers: signed(),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a JWT that does not meet a condition',
    api: 'jwt',
    route: 'where',
    headers: signed({ client_id: 'other' }),
    expected: insufficient('The access token does not meet a condition of this API', undefined, 'api'),
  },
  ...Object.entries({
    'no credentials': {},
    'an empty header': { authorization: '' },
    'credentials of another scheme': { authorization: 'Basic Zm9vOmJhcg==' },
  }).map(([name, headers]): VerificationCase => ({
    title: `${name} where a token is optional`,
    api: 'jwt',
    route: 'optional',
    headers: () => headers,
    expected: { status: 200, token: 'anonymous' },
  })),
  {
    title: 'a valid JWT where a token is optional',
    api: 'jwt',
    route: 'optional',
    headers: signed(),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'an expired JWT where a token is optional',
    api: 'jwt',
    route: 'optional',
    headers: async ({ jwt }) => bearer(await jwt.sign({ exp: now() - 60 })),
    expected: invalid(),
  },
  {
    title: 'an opaque token where a JWT is optional',
    api: 'jwt',
    route: 'optional',
    headers: () => bearer('opaque'),
    expected: invalid(),
  },
  ...['Bearer', 'Bearer ', 'opaque', 'DPoP'].map((authorization): VerificationCase => ({
    title: `the malformed header "${authorization}" where a token is optional`,
    api: 'jwt',
    route: 'optional',
    headers: () => ({ authorization }),
    expected: missing('Bearer realm="api"'),
  })),
  {
    title: 'two tokens where one is optional',
    api: 'jwt',
    route: 'optional',
    headers: async ({ jwt }) => ({ authorization: [`Bearer ${await jwt.sign()}`, 'Bearer b'] }),
    expected: twice('api'),
  },

  // Introspection endpoints that return wrong responses or fail
  ...Object.entries({
    'an empty body': '',
    HTML: '<html>',
    'half of a JSON object': '{"active":tr',
  }).map(([name, body]): VerificationCase => ({
    title: `an introspection response with ${name}`,
    api: 'lying',
    headers: introspected(body),
    expected: unavailable,
  })),
  // JSON that is no decision concerns this token alone.
  ...Object.entries({
    null: null,
    'a list': [],
    'active as text': { active: 'true' },
    'active as a number': { active: 1 },
    'no active': { client_id: 'client' },
    'an expiry as text': { active: true, exp: 'tomorrow' },
  }).map(([name, body]): VerificationCase => ({
    title: `an introspection response with ${name}`,
    api: 'lying',
    headers: introspected(body),
    expected: invalid(),
  })),
  ...[302, 400, 401, 403, 404, 500].map((status): VerificationCase => ({
    title: `an introspection response with status ${status}`,
    api: 'lying',
    headers: respondingWith({ status, headers: { location: '/' }, body: '{"active":true}' }),
    expected: unavailable,
  })),
  {
    title: 'an introspection endpoint that is overloaded',
    api: 'lying',
    headers: respondingWith({ status: 503, headers: { 'retry-after': '17' }, body: '' }),
    expected: { ...unavailable, retryAfter: '17' },
  },
  {
    title: 'an introspection endpoint that hangs',
    api: 'lying',
    headers: respondingWith({ hang: true }),
    expected: unavailable,
  },
  {
    title: 'an introspection endpoint that hangs up',
    api: 'lying',
    headers: respondingWith({ drop: true }),
    expected: unavailable,
  },
  {
    title: 'an active token without client, expiry and scope',
    api: 'lying',
    headers: introspected({ active: true }),
    expected: accepted({ scopes: [], products: [] }),
  },
  {
    title: 'a token that is active, but expired by its exp',
    api: 'lying',
    headers: () => introspected({ active: true, exp: now() - 1 })(),
    expected: invalid(),
  },
  {
    title: 'a token that was introspected for another audience',
    api: 'lying',
    headers: introspected({ active: true, aud: 'https://other.example.com' }),
    expected: invalid(),
  },
  {
    title: 'products that are not a list',
    api: 'lying',
    route: 'product',
    headers: introspected({ active: true, api_products: 'orders' }),
    expected: insufficient('The access token does not cover the product orders', undefined, 'api'),
  },
  {
    title: 'a product that only begins alike',
    api: 'lying',
    route: 'product',
    headers: introspected({ active: true, api_products: ['orders-beta'] }),
    expected: insufficient('The access token does not cover the product orders', undefined, 'api'),
  },

  // Bound tokens
  {
    title: 'no credentials where DPoP is offered',
    api: 'dpop',
    headers: () => ({}),
    expected: missing(`Bearer realm="api", DPoP realm="api", algs="${algs}"`),
  },
  {
    title: 'no credentials where DPoP is required',
    api: 'dpopRequired',
    headers: () => ({}),
    expected: missing(
      'DPoP realm="api", algs="ES256"',
      'This API requires an access token. Send "Authorization: DPoP <token>" and a DPoP proof.',
    ),
  },
  {
    title: 'a token that is not bound where DPoP is required',
    api: 'dpopRequired',
    headers: signed(),
    expected: {
      status: 401,
      challenge:
        'Bearer realm="api", error="invalid_token", error_description="This API requires an access token that is bound to a key", DPoP realm="api", algs="ES256"',
    },
  },
  {
    title: 'a token that is not bound where DPoP is required, with a proof',
    api: 'dpopRequired',
    headers: proven({ bound: false }),
    expected: {
      status: 401,
      challenge:
        'DPoP realm="api", error="invalid_token", error_description="This API requires an access token that is bound to a key", algs="ES256"',
    },
  },
  {
    title: 'a bound token with its proof',
    api: 'dpop',
    headers: proven(),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a proof whose htu differs in query and percent-encoding alone',
    api: 'dpop',
    headers: proven({ url: (url) => `${url.replace('/any', '/%61ny')}?page=2#top` }),
    expected: accepted({ clientId: 'client' }),
  },
  {
    title: 'a bound token without a proof',
    api: 'dpop',
    headers: proven({ proof: () => undefined }),
    expected: badProof('The DPoP proof is missing'),
  },
  {
    title: 'a bound token as Bearer',
    api: 'dpop',
    headers: proven({ scheme: 'Bearer' }),
    expected: {
      status: 401,
      challenge: `Bearer realm="api", error="invalid_token", error_description="The access token is bound to a key. Send it with a DPoP proof", DPoP realm="api", algs="${algs}"`,
    },
  },
  {
    title: 'a bound token as Bearer where DPoP is not offered',
    api: 'jwt',
    headers: proven({ scheme: 'Bearer' }),
    expected: {
      status: 401,
      challenge:
        'Bearer realm="api", error="invalid_token", error_description="The access token is bound to a key. Send it with a DPoP proof"',
    },
  },
  {
    title: 'a token that is not bound, with a proof',
    api: 'dpop',
    headers: proven({ bound: false }),
    expected: {
      status: 401,
      challenge: `DPoP realm="api", error="invalid_token", error_description="The access token is not bound to a key. Send it with the scheme Bearer", algs="${algs}"`,
    },
  },
  {
    title: 'a proof by another key',
    api: 'dpop',
    headers: proven({ other: true }),
    expected: {
      status: 401,
      challenge: `DPoP realm="api", error="invalid_token", error_description="The access token is bound to a different key than the one that signed the DPoP proof", algs="${algs}"`,
    },
  },
  {
    title: 'two proofs',
    api: 'dpop',
    headers: proven({ proof: (proof) => [proof, proof] }),
    expected: malformedProof,
  },
  {
    title: 'a proof for another method',
    api: 'dpop',
    headers: proven({ method: 'POST' }),
    expected: badProof('The DPoP proof is for another method'),
  },
  {
    title: 'a proof for another path',
    api: 'dpop',
    headers: proven({ url: (url) => `${url}/1` }),
    expected: badProof('The DPoP proof is for another URL'),
  },
  {
    title: 'a proof for another host',
    api: 'dpop',
    headers: proven({ url: (url) => url.replace('127.0.0.1', 'localhost') }),
    expected: badProof('The DPoP proof is for another URL'),
  },
  {
    title: 'a proof for another token',
    api: 'dpop',
    headers: proven({ claims: { ath: 'AAAA' } }),
    expected: badProof('The DPoP proof is for another access token'),
  },
  {
    title: 'a proof without ath',
    api: 'dpop',
    headers: proven({ claims: { ath: undefined } }),
    expected: malformedProof,
  },
  {
    title: 'a proof without jti',
    api: 'dpop',
    headers: proven({ claims: { jti: undefined } }),
    expected: malformedProof,
  },
  {
    title: 'an old proof',
    api: 'dpop',
    headers: (servers, url) => proven({ claims: { iat: now() - 200 } })(servers, url),
    expected: proofOfWrongTime,
  },
  {
    title: 'a proof of the future',
    api: 'dpop',
    headers: (servers, url) => proven({ claims: { iat: now() + 120 } })(servers, url),
    expected: proofOfWrongTime,
  },
  {
    title: 'a proof with another typ',
    api: 'dpop',
    headers: proven({ header: { typ: 'JWT' } }),
    expected: malformedProof,
  },
  {
    title: 'a proof without its key',
    api: 'dpop',
    headers: proven({ header: { jwk: undefined } }),
    expected: malformedProof,
  },
  {
    title: 'a proof that is not a JWT',
    api: 'dpop',
    headers: proven({ proof: () => 'proof' }),
    expected: malformedProof,
  },
  {
    title: 'a token bound to a client certificate, without one',
    api: 'jwt',
    headers: signed({ cnf: { 'x5t#S256': 'A'.repeat(43) } }),
    expected: {
      status: 401,
      challenge:
        'Bearer realm="api", error="invalid_token", error_description="The access token is bound to a different client certificate"',
    },
  },
  {
    title: 'a token bound in an unknown way',
    api: 'jwt',
    headers: signed({ cnf: { kid: 'key' } }),
    expected: {
      status: 401,
      challenge:
        'Bearer realm="api", error="invalid_token", error_description="The access token is bound in a way that this API does not support"',
    },
  },
]
