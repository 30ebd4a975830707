import { clientCredentials } from '@tokenwell/core'
import { expect, it, onTestFinished, vi } from 'vitest'

/** The message of the error when fetch fails with this cause. */
async function messageOf(cause: Error, env: Record<string, string> = {}): Promise<string> {
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  })
  const cleared = { HTTPS_PROXY: '', https_proxy: '', NODE_USE_ENV_PROXY: '', NODE_OPTIONS: '' }
  for (const [name, value] of Object.entries({ ...cleared, ...env })) vi.stubEnv(name, value)
  vi.stubGlobal('fetch', async () => {
    throw new TypeError('fetch failed', { cause })
  })
  const error = await clientCredentials({
    tokenEndpoint: 'https://auth.example.test/token',
    clientId: 'client',
    clientSecret: 'secret',
    maxAttempts: 1,
  })
    .getToken()
    .catch((failure: Error) => failure)
  expect(error).toMatchObject({ kind: 'unavailable' })
  return (error as Error).message
}

const connectionError = Object.assign(new Error('The connection failed'), { code: 'ECONNREFUSED' })

it.each([
  [
    407,
    "The proxy responded to CONNECT with status 407. Put the proxy's user name and password into its URL.",
  ],
  [502, 'The proxy responded to CONNECT with status 502. The proxy cannot reach this host.'],
  [403, 'The proxy responded to CONNECT with status 403. Allow this host in the configuration of the proxy.'],
  [418, 'The proxy responded to CONNECT with status 418.'],
])('names a proxy that responds to CONNECT with %i', async (status, sentence) => {
  const cause = new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`)
  expect(await messageOf(cause)).toContain(sentence)
})

it('names a proxy in the environment that Node does not use', async () => {
  expect(await messageOf(connectionError, { HTTPS_PROXY: 'http://proxy.test:8080' })).toMatch(
    /ECONNREFUSED\)\. HTTPS_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1\.$/,
  )
})

it.each([{ NODE_USE_ENV_PROXY: '1' }, { NODE_OPTIONS: '--use-env-proxy' }])(
  'names a proxy that Node uses, and that cannot be reached: %j',
  async (used) => {
    expect(await messageOf(connectionError, { https_proxy: 'http://proxy.test:8080', ...used })).toMatch(
      /ECONNREFUSED\)\. Check the proxy in https_proxy: the connection is to it, unless NO_PROXY names this host\.$/,
    )
  },
)

it.each([
  ['no proxy', connectionError, {}],
  ['another failure', new Error('odd'), { HTTPS_PROXY: 'http://proxy.test' }],
  ['another failure', new Error('odd'), { HTTPS_PROXY: 'http://proxy.test', NODE_USE_ENV_PROXY: '1' }],
])('says nothing about proxies with %s', async (_what, cause, env) => {
  expect(await messageOf(cause, env)).not.toMatch(/proxy/i)
})
