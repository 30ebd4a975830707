import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { OAuth2Client } from '@badgateway/oauth2-client'
import { create } from 'axios'
import { clientCredentials } from 'axios-oauth-client'
import { exportJWK, exportPKCS8, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { ClientCredentials } from 'simple-oauth2'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../service-process.ts'
import {
  application,
  introspect,
  requestToken,
  resourceServer,
  testService,
  tokenPath,
} from '../test-service.ts'

const run = promisify(execFile)
const program = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url))
const python = '/usr/bin/python3'

const methods = ['basic', 'post'] as const
type Method = (typeof methods)[number]

/** The credentials and the URL of the token endpoint are in these variables. */
type Environment = Readonly<Record<'CLIENT_ID' | 'CLIENT_SECRET' | 'TOKEN_ENDPOINT', string>>

interface ForeignClient {
  /** Succeeds if the client is installed. */
  readonly probe: readonly [string, ...string[]]
  readonly packages: string
  /** The command that prints the token. */
  readonly command: (method: Method, environment: Environment) => Promise<readonly [string, ...string[]]>
}

const clients: Readonly<Record<string, ForeignClient>> = {
  curl: {
    probe: ['curl', '--version'],
    packages: 'curl',
    async command(method, { CLIENT_ID, CLIENT_SECRET, TOKEN_ENDPOINT }) {
      const form = [
        '--data-urlencode',
        `client_id=${CLIENT_ID}`,
        '--data-urlencode',
        `client_secret=${CLIENT_SECRET}`,
      ]
      const credentials = method === 'basic' ? ['-u', `${CLIENT_ID}:${CLIENT_SECRET}`, '-X', 'POST'] : form
      return ['curl', '-sS', '--fail', ...credentials, TOKEN_ENDPOINT]
    },
  },
  'requests-oauthlib': {
    probe: [python, '-c', 'import requests_oauthlib'],
    packages: 'python3-requests-oauthlib',
    command: async (method) => [python, program('requests_session.py'), method],
  },
  Authlib: {
    probe: [python, '-c', 'import authlib, requests'],
    packages: 'python3-authlib python3-requests',
    command: async (method) => [python, program('authlib_session.py'), method],
  },
  'Ruby oauth2': {
    probe: ['ruby', '-e', 'require "oauth2"'],
    packages: 'ruby-oauth2',
    command: async (method) => ['ruby', program('oauth2.rb'), method],
  },
  'Perl LWP': {
    probe: ['perl', '-MLWP::UserAgent', '-e', '1'],
    packages: 'libwww-perl',
    command: async (method) => ['perl', program('lwp.pl'), method],
  },
  'Go x/oauth2': {
    probe: ['go', 'list', '-f', '{{.Dir}}', '/usr/share/gocode/src/golang.org/x/oauth2/clientcredentials'],
    packages: 'golang-go golang-golang-x-oauth2-dev',
    async command(method) {
      return [await built('oauth2.go'), method]
    },
  },
}

const goEnvironment = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
async function built(source: string): Promise<string> {
  const folder = temporaryFolder()
  const env = { ...goEnvironment, GOCACHE: join(folder, 'cache') }
  await run('go', ['build', '-o', join(folder, 'client'), program(source)], { env })
  return join(folder, 'client')
}

const odd = {
  ...application,
  clientId: 'app one+two%25',
  clientSecret: 'a+b%c/d=e&f:g h%20i',
}

for (const [name, { probe, packages, command }] of Object.entries(clients)) {
  const isAbsent = spawnSync(probe[0], probe.slice(1), { env: goEnvironment }).status !== 0
  const suffix = isAbsent ? ` (needs the Debian packages ${packages})` : ''
  describe.skipIf(isAbsent)(`${name}${suffix}`, () => {
    it('gets tokens with special characters in its secret, with Basic and in the body', async () => {
      const { authUrl } = await testService({ applications: [odd], resourceServers: [resourceServer] })
      for (const method of methods) {
        const environment = {
          CLIENT_ID: odd.clientId,
          CLIENT_SECRET: odd.clientSecret,
          TOKEN_ENDPOINT: `${authUrl}${tokenPath}?grant_type=client_credentials`,
        }
        const [file, ...args] = await command(method, environment)
        const { stdout } = await run(file, args, { env: { ...process.env, ...environment } })
        const token = name === 'curl' ? JSON.parse(stdout).access_token : stdout
        const { body } = await introspect(authUrl, token)
        expect(body, `${name}, ${method}`).toMatchObject({ active: true, client_id: odd.clientId })
      }
    })
  })
}

const authlibIsAbsent = spawnSync(python, ['-c', 'import authlib, requests']).status !== 0

describe('the identity of a machine', () => {
  const issuer = 'https://ci.example.com'

  async function trustingService() {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1' }
    const rules = [{ clientId: application.clientId, claims: { sub: 'repo:example/orders:*' } }]
    const { authUrl } = await testService({
      trustedIssuers: [{ issuer, jwksUrl: `${issuer}/jwks`, rules }],
      fetchKeys: async () => Response.json({ keys: [jwk] }),
      format: 'standard',
    })
    return { authUrl, privateKey }
  }
  const clientOf = async (authUrl: string, token: string) =>
    (await introspect(authUrl, token)).body.client_id as string

  it.skipIf(authlibIsAbsent)(
    `is exchanged by Authlib${authlibIsAbsent ? ' (needs the Debian packages python3-authlib python3-requests)' : ''}`,
    async () => {
      const { authUrl, privateKey } = await trustingService()
      const environment = {
        TOKEN_ENDPOINT: `${authUrl}${tokenPath}`,
        ISSUER: issuer,
        AUDIENCE: authUrl,
        PRIVATE_KEY: await exportPKCS8(privateKey),
      }
      const { stdout } = await run(python, [program('jwt_bearer.py')], {
        env: { ...process.env, ...environment },
      })
      expect(await clientOf(authUrl, stdout)).toBe(application.clientId)
    },
  )

  it('is exchanged by openid-client, which finds the grant in the metadata', async () => {
    const { authUrl, privateKey } = await trustingService()
    const config = await openid.discovery(new URL(authUrl), application.clientId, undefined, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    expect(config.serverMetadata().grant_types_supported).toContain(grant)
    const assertion = await new SignJWT({ sub: 'repo:example/orders:main' })
      .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
      .setIssuer(issuer)
      .setAudience(authUrl)
      .setExpirationTime('5 min')
      .sign(privateKey)
    const { access_token: token } = await openid.genericGrantRequest(config, grant, { assertion })
    expect(await clientOf(authUrl, token)).toBe(application.clientId)
  })
})

const { clientId, clientSecret } = application
const endpoint = `${tokenPath}?grant_type=client_credentials`

/** The token request of each client, given the URL of the service and its metadata. */
const libraries: Record<string, (authUrl: string) => Promise<string>> = {
  async 'openid-client, by metadata'(authUrl) {
    const config = await openid.discovery(new URL(authUrl), clientId, clientSecret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    return (await openid.clientCredentialsGrant(config)).access_token
  },
  async 'openid-client, by metadata and Basic'(authUrl) {
    const method = openid.ClientSecretBasic(clientSecret)
    const config = await openid.discovery(new URL(authUrl), clientId, undefined, method, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    return (await openid.clientCredentialsGrant(config)).access_token
  },
  async 'simple-oauth2'(authUrl) {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: authUrl, tokenPath: endpoint },
      options: { authorizationMethod: 'body' },
    })
    const { token } = await client.getToken({})
    expect(client.createToken(token).expired()).toBe(false)
    return String(token['access_token'])
  },
  async 'simple-oauth2, by Basic'(authUrl) {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: authUrl, tokenPath: endpoint },
    })
    return String((await client.getToken({})).token['access_token'])
  },
  async '@badgateway/oauth2-client'(server) {
    const client = new OAuth2Client({ server, tokenEndpoint: endpoint, clientId, clientSecret })
    return (await client.clientCredentials()).accessToken
  },
  async '@badgateway/oauth2-client, by metadata'(server) {
    const client = new OAuth2Client({ server, clientId, clientSecret })
    return (await client.clientCredentials()).accessToken
  },
  async 'axios-oauth-client'(authUrl) {
    const getToken = clientCredentials(create(), authUrl + endpoint, clientId, clientSecret)
    return (await getToken('')).access_token
  },
}

describe('a third-party client', () => {
  it.each(Object.entries(libraries))('gets a token: %s', async (_name, getToken) => {
    for (const format of ['platform', 'standard'] as const) {
      const { authUrl } = await testService({ format })
      const { body } = await introspect(authUrl, await getToken(authUrl))
      expect(body).toMatchObject({ active: true, client_id: clientId })
    }
  })

  it('introspects and revokes with openid-client', async () => {
    const { authUrl } = await testService({ resourceServers: [{ clientId, clientSecret }] })
    const config = await openid.discovery(new URL(authUrl), clientId, clientSecret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    const { access_token, expires_in } = await openid.clientCredentialsGrant(config)
    expect(expires_in).toBe(3600)
    expect((await openid.tokenIntrospection(config, access_token)).active).toBe(true)
    await openid.tokenRevocation(config, access_token)
    expect((await openid.tokenIntrospection(config, access_token)).active).toBe(false)
  })

  it('reports our errors in its own terms', async () => {
    const { authUrl } = await testService({ format: 'standard' })
    const config = await openid.discovery(new URL(authUrl), clientId, 'wrong', undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    const rejected = openid.clientCredentialsGrant(config)
    await expect(rejected).rejects.toMatchObject({ status: 401 })
  })
})

interface ForeignVerifier {
  readonly probe: readonly [string, ...string[]]
  readonly packages: string
  /** The command that prints `valid` or `rejected` for each JWT in its arguments. */
  readonly command: () => Promise<readonly [string, ...string[]]>
}

const verifiers: Readonly<Record<string, ForeignVerifier>> = {
  Authlib: {
    probe: [python, '-c', 'import authlib, requests'],
    packages: 'python3-authlib python3-requests',
    command: async () => [python, program('verify_jwt.py')],
  },
  'Ruby jwt': {
    probe: ['ruby', '-e', 'require "jwt"'],
    packages: 'ruby-jwt',
    command: async () => ['ruby', program('verify_jwt.rb')],
  },
  'Go golang-jwt': {
    probe: ['go', 'list', '-f', '{{.Dir}}', 'github.com/golang-jwt/jwt'],
    packages: 'golang-go golang-github-golang-jwt-jwt-dev',
    command: async () => [await built('verify_jwt.go')],
  },
}

for (const [name, { probe, packages, command }] of Object.entries(verifiers)) {
  const isAbsent = spawnSync(probe[0], probe.slice(1), { env: goEnvironment }).status !== 0
  const suffix = isAbsent ? ` (needs the Debian packages ${packages})` : ''
  describe.skipIf(isAbsent)(`${name}${suffix}`, () => {
    it('accepts our JWTs, and rejects those with a flaw', async () => {
      const audience = 'https://orders.example.com'
      const jwtApplication = { ...application, tokenFormat: 'jwt' as const, audiences: [audience] }
      const { authUrl, sandboxUrl } = await testService({ applications: [jwtApplication], sandbox: true })
      const tokenOf = async () => (await requestToken(authUrl)).body.access_token as string
      const tokens = [await tokenOf()]
      const flaws = ['expired', 'wrong_audience', 'wrong_issuer', 'unknown_key', 'old_key', 'wrong_signature']
      for (const jwt of flaws) {
        const headers = { 'content-type': 'application/json' }
        await fetch(`${sandboxUrl}/faults`, { method: 'POST', headers, body: JSON.stringify({ jwt }) })
        tokens.push(await tokenOf())
      }
      const env = { ISSUER: authUrl, AUDIENCE: audience, JWKS_URI: `${authUrl}/.well-known/jwks.json` }
      const [file, ...args] = await command()
      const { stdout } = await run(file, [...args, ...tokens], { env: { ...process.env, ...env } })
      expect(stdout.trim().split('\n')).toEqual(['valid', ...flaws.map(() => 'rejected')])
    })
  })
}
