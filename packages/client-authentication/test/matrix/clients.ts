import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assertionFromFile, privateKeyJwt } from '@tokenwell/client-authentication'
import { dpop } from '@tokenwell/client-authentication/dpop'
import { clientCredentials, createTokenFetch, jwtBearer, type TokenProvider } from '@tokenwell/core'
import type { CryptoKey } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll } from 'vitest'
import { clientSecret, issuer, type Platform, type Registration } from './platform.ts'

/** With the secret in the form or the header, a private key, the JWT of an issuer as assertion, or that JWT as the grant. */
export const authentications = ['post', 'basic', 'key', 'identity', 'grant'] as const
export type Authentication = (typeof authentications)[number]

export const bindings = ['none', 'DPoP'] as const
export type Binding = (typeof bindings)[number]

/** Sends a GET request to the API with the token. */
export type SendWithToken = (url: string) => Promise<Response>

export interface MatrixClient {
  readonly name: string
  /** The Debian packages that are missing. */
  readonly missing?: string | undefined
  supports(authentication: Authentication, binding: Binding): boolean
  /** Gets a token. */
  connect(request: ConnectOptions): Promise<SendWithToken>
}

export interface ConnectOptions extends Registration {
  readonly platform: Platform
  readonly authentication: Authentication
  readonly binding: Binding
}

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const everything = () => true

const tokenwell: MatrixClient = {
  name: 'Tokenwell',
  supports: everything,
  async connect({ platform, clientId, identity, subject, authentication, binding }) {
    const common = { issuer: platform.authUrl, ...(binding === 'DPoP' && { binding: dpop() }) }
    const providers: Record<Authentication, () => TokenProvider> = {
      post: () =>
        clientCredentials({ ...common, clientId, clientSecret, clientAuthentication: 'client_secret_post' }),
      basic: () =>
        clientCredentials({ ...common, clientId, clientSecret, clientAuthentication: 'client_secret_basic' }),
      key: () =>
        clientCredentials({
          ...common,
          clientId,
          clientAuthentication: privateKeyJwt({ key: platform.clientKeyPem, keyId: 'client-key' }),
        }),
      identity: () =>
        clientCredentials({
          ...common,
          clientId,
          clientAuthentication: assertionFromFile(temporaryFile(identity)),
        }),
      grant: () => jwtBearer({ ...common, assertion: identity, subject }),
    }
    const tokens = providers[authentication]()
    await tokens.getToken()
    return createTokenFetch(tokens, { allowedOrigins: [platform.api] })
  },
}

/** Sends a client assertion that somebody else issued, which neither library has a function for. */
const withIdentity =
  (identity: string): openid.ClientAuth =>
  (_server, _client, body) => {
    body.set('client_assertion_type', assertionType)
    body.set('client_assertion', identity)
  }

/** What both libraries have. */
interface Methods {
  readonly ClientSecretPost: (clientSecret: string) => openid.ClientAuth
  readonly ClientSecretBasic: (clientSecret: string) => openid.ClientAuth
  readonly PrivateKeyJwt: (key: { readonly key: CryptoKey; readonly kid: string }) => openid.ClientAuth
  readonly None: () => openid.ClientAuth
}

const methodsOf = (
  lib: Methods,
  { platform, identity }: ConnectOptions,
): Record<Authentication, () => openid.ClientAuth> => ({
  post: () => lib.ClientSecretPost(clientSecret),
  basic: () => lib.ClientSecretBasic(clientSecret),
  key: () => lib.PrivateKeyJwt({ key: platform.clientKey, kid: 'client-key' }),
  identity: () => withIdentity(identity),
  grant: () => lib.None(),
})

/** The response to a request whose challenge the libraries throw. */
async function responseOf(request: Promise<Response>): Promise<Response> {
  try {
    return await request
  } catch (error) {
    const { response } = error as { response?: unknown }
    if (response instanceof Response) return response
    throw error
  }
}

const oauth4webapi: MatrixClient = {
  name: 'oauth4webapi',
  supports: everything,
  async connect(options) {
    const { platform, clientId, identity, authentication, binding } = options
    const url = new URL(platform.authUrl)
    const insecure = { [oauth.allowInsecureRequests]: true }
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure))
    const client: oauth.Client = { client_id: clientId }
    const handle = binding === 'DPoP' && { DPoP: oauth.DPoP(client, await oauth.generateKeyPair('ES256')) }
    const request = { ...insecure, ...handle }
    const method = methodsOf(oauth, options)[authentication]()
    const { access_token: token } =
      authentication === 'grant'
        ? await oauth.processGenericTokenEndpointResponse(
            server,
            client,
            await oauth.genericTokenEndpointRequest(
              server,
              client,
              method,
              grantType,
              { assertion: identity },
              request,
            ),
          )
        : await oauth.processClientCredentialsResponse(
            server,
            client,
            await oauth.clientCredentialsGrantRequest(server, client, method, new URLSearchParams(), request),
          )
    return (to) =>
      responseOf(oauth.protectedResourceRequest(token, 'GET', new URL(to), new Headers(), null, request))
  },
}

const openidClient: MatrixClient = {
  name: 'openid-client',
  supports: everything,
  async connect(options) {
    const { platform, clientId, identity, authentication, binding } = options
    const method = methodsOf(openid, options)[authentication]()
    const config = await openid.discovery(new URL(platform.authUrl), clientId, undefined, method, {
      execute: [openid.allowInsecureRequests],
    })
    const handle = binding === 'DPoP' && {
      DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()),
    }
    const { access_token: token } =
      authentication === 'grant'
        ? await openid.genericGrantRequest(config, grantType, { assertion: identity }, { ...handle })
        : await openid.clientCredentialsGrant(config, {}, { ...handle })
    return (to) =>
      responseOf(
        openid.fetchProtectedResource(config, token, new URL(to), 'GET', null, new Headers(), { ...handle }),
      )
  },
}

const run = promisify(execFile)
const program = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url))
const goEnvironment = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
const succeeds = (file: string, ...args: string[]) =>
  spawnSync(file, args, { env: goEnvironment }).status === 0

/** A program that prints a token. */
function printing(command: () => Promise<readonly [string, ...string[]]>): MatrixClient['connect'] {
  return async ({ platform, clientId, identity, subject, authentication }) => {
    const [file, ...args] = await command()
    const env = {
      ...process.env,
      TOKEN_ENDPOINT: `${platform.authUrl}/oauth/client_credential/accesstoken`,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
      CLIENT_KEY: platform.clientKeyPem,
      IDENTITY: identity,
      ISSUER: issuer,
      ISSUER_KEY: platform.issuerKeyPem,
      SUBJECT: subject,
      AUDIENCE: platform.authUrl,
    }
    const { stdout } = await run(file, [...args, authentication], { env })
    return (to) => fetch(to, { headers: { authorization: `Bearer ${stdout}` } })
  }
}

const python = '/usr/bin/python3'
const authlib: MatrixClient = {
  name: 'Authlib',
  ...(!succeeds(python, '-c', 'import authlib, requests') && {
    missing: 'python3-authlib python3-requests',
  }),
  supports: (_authentication, binding) => binding === 'none',
  connect: printing(async () => [python, program('authlib_token.py')]),
}

let built: Promise<string> | undefined
const goClient: MatrixClient = {
  name: 'Go x/oauth2',
  ...(!succeeds('go', 'list', '/usr/share/gocode/src/golang.org/x/oauth2/jwt') && {
    missing: 'golang-go golang-golang-x-oauth2-dev',
  }),
  supports: (authentication, binding) => binding === 'none' && authentication !== 'key',
  connect: printing(async () => [await (built ??= build('oauth2_token.go'))]),
}

async function build(source: string): Promise<string> {
  const folder = temporaryFolder()
  const env = { ...goEnvironment, GOCACHE: join(folder, 'cache') }
  await run('go', ['build', '-o', join(folder, 'client'), program(source)], { env })
  return join(folder, 'client')
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-matrix-'))
  folders.push(folder)
  return folder
}

function temporaryFile(content: string): string {
  const file = join(temporaryFolder(), 'token')
  writeFileSync(file, content)
  return file
}

export const clients: readonly MatrixClient[] = [tokenwell, oauth4webapi, openidClient, authlib, goClient]
