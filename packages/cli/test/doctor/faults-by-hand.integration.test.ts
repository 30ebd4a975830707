import { expect, it } from 'vitest'
import { useSandboxedService } from '../sandboxed-service.ts'
import { startTokenwell } from '../tokenwell-process.ts'
import { startRawServer } from './run-doctor.ts'

const service = useSandboxedService()

/** What a user gets wrong: changes to a valid environment, or a server in its way. */
interface Fault {
  readonly env?: () => Readonly<Record<string, string>>
  readonly response?: object
  /** How a proxy responds to CONNECT; it hangs without a response. */
  readonly proxy?: { readonly response?: string }
  readonly cause: RegExp
  readonly fix: RegExp
}

const elsewhere = { AUTH_URL: 'https://auth.example.test' }
const path = '/oauth/client_credential/accesstoken'
const expired = "AADSTS7000222: The provided client secret keys for app 'demo' are expired."

it.each<[string, Fault]>([
  [
    'a wrong secret',
    {
      env: () => ({ CLIENT_SECRET: 'canary-wrong' }),
      cause: /rejected the client ID or the client secret \(status 401, invalid_client/,
      fix: /Check CLIENT_ID and CLIENT_SECRET\. Copy both again from the developer portal/,
    },
  ],
  [
    'an expired secret',
    {
      response: { status: 401, body: { error: 'invalid_client', error_description: expired } },
      cause: /The client secret has expired \(status 401, invalid_client, "AADSTS7000222: /,
      fix: /Create a new secret in the developer portal/,
    },
  ],
  [
    'the whole URL of the endpoint as AUTH_URL',
    {
      env: () => ({ AUTH_URL: `${service.authUrl}${path}` }),
      cause: /AUTH_URL already contains the path \/oauth/,
      fix: /Set it to http:\/\/127\.0\.0\.1:\d+,/,
    },
  ],
  [
    'a URL with a wrong path',
    {
      env: () => ({ AUTH_URL: `${service.authUrl}/v2` }),
      cause: /There is no token endpoint at \/v2\/oauth\/client_credential\/accesstoken \(status 404\)/,
      fix: /AUTH_URL or --auth-url is the part of the URL before \/oauth/,
    },
  ],
  [
    'a URL with a misspelt host',
    {
      env: () => ({ AUTH_URL: 'https://auth.example.invalid' }),
      cause: /Could not resolve auth\.example\.invalid/,
      fix: /Check the spelling/,
    },
  ],
  [
    'a URL without a scheme',
    { env: () => ({ AUTH_URL: 'auth.example.test' }), cause: /AUTH_URL/, fix: /https:\/\// },
  ],
  [
    'a clock that is an hour behind',
    {
      response: {
        body: { access_token: 'canary', token_type: 'Bearer', expires_in: '3600' },
        headers: { 'cache-control': 'no-store', date: new Date(Date.now() + 3_600_000).toUTCString() },
      },
      cause: /This machine's clock is .* behind the service's/,
      fix: /Synchronise this machine's clock/,
    },
  ],
  [
    'a proxy of the environment that Node does not use',
    {
      env: () => ({ ...elsewhere, HTTPS_PROXY: 'http://127.0.0.1:1' }),
      cause: /HTTPS_PROXY/,
      fix: /NODE_USE_ENV_PROXY=1/,
    },
  ],
  [
    'a proxy that is not running',
    {
      env: () => ({ ...elsewhere, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:1' }),
      cause: /proxy set in HTTPS_PROXY cannot be reached \(ECONNREFUSED\)/,
      fix: /Check its URL, and whether it is running/,
    },
  ],
  [
    'a proxy whose host is unknown',
    {
      env: () => ({ ...elsewhere, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://proxy.invalid:8080' }),
      cause: /proxy set in HTTPS_PROXY cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/,
      fix: /Check its URL, and whether it is running/,
    },
  ],
  [
    'a proxy that wants a password',
    {
      env: () => elsewhere,
      proxy: { response: '407 Proxy Authentication Required' },
      cause: /proxy did not open a connection to auth\.example\.test .*CONNECT with status 407/,
      fix: /user name and password into the URL of the proxy/,
    },
  ],
  [
    'a proxy that forbids the host',
    {
      env: () => elsewhere,
      proxy: { response: '403 Forbidden' },
      cause: /proxy did not open a connection to auth\.example\.test .*CONNECT with status 403/,
      fix: /allow connections to auth\.example\.test/,
    },
  ],
  [
    'a proxy that hangs',
    { env: () => elsewhere, proxy: {}, cause: /did not respond within/, fix: /[Pp]roxy/ },
  ],
])('names the cause and the fix of %s', async (_name, fault) => {
  if (fault.response) await service.fault(fault.response)
  const env: Record<string, string> = { ...service.environmentOf('demo'), ...fault.env?.() }
  if (fault.proxy) {
    const { response } = fault.proxy
    const { port } = await startRawServer((socket) => {
      socket.once('data', () => response && socket.end(`HTTP/1.1 ${response}\r\ncontent-length: 0\r\n\r\n`))
    })
    Object.assign(env, { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: `http://127.0.0.1:${port}` })
  }
  const timeout = fault.proxy && !fault.proxy.response ? '2' : '30'
  const doctor = startTokenwell(['doctor', '--timeout', timeout], env)
  await doctor.ended
  const text = doctor.written.stdout + doctor.written.stderr
  expect(text).toMatch(fault.cause)
  expect(text).toMatch(fault.fix)
  expect(text).not.toContain('canary')
})
