import { join } from 'node:path'
import { docs, root } from './places.ts'
import type { Network } from './network.ts'
import { runProcess } from './run-process.ts'

const core = join(root, 'packages/core/dist/index.js')

/** Tests the statements about Node's own variables on the page about proxies and private CAs. */
export async function checkNetwork(
  network: Network,
  platform: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { PROXY_URL = '', PRIVATE_AUTH_URL = '', CA_FILE = '' } = network.environment
  const getToken = async (authUrl: string, environment: Record<string, string>) => {
    const program = `
      import { clientCredentials, createTokenProvider } from ${JSON.stringify(core)}
      const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = process.env
      const source = clientCredentials({ authUrl: ${JSON.stringify(authUrl)}, clientId, clientSecret })
      await createTokenProvider(source, { maxAttempts: 1 }).getToken()`
    const args = ['--input-type=module', '--eval', program]
    return (await runProcess(process.execPath, args, { ...platform, ...environment }, docs)).code === 0
  }
  const tunnels = async () => Number(await (await fetch(PROXY_URL)).text())
  const problems: string[] = []
  const must = (condition: boolean, sentence: string) =>
    void (condition || problems.push(`network.md: ${sentence}`))

  const before = await tunnels()
  const proxies = { HTTP_PROXY: PROXY_URL, HTTPS_PROXY: PROXY_URL }
  must(
    await getToken(PRIVATE_AUTH_URL, { NODE_EXTRA_CA_CERTS: CA_FILE }),
    'NODE_EXTRA_CA_CERTS does not work',
  )
  must(!(await getToken(PRIVATE_AUTH_URL, {})), 'a private CA is trusted without being named')
  must((await tunnels()) === before, 'something goes through the proxy unasked')
  const both = { ...proxies, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: CA_FILE }
  must(await getToken(PRIVATE_AUTH_URL, both), 'NODE_USE_ENV_PROXY does not work')
  must((await tunnels()) === before + 1, 'NODE_USE_ENV_PROXY does not lead through the proxy')
  must(await getToken(PRIVATE_AUTH_URL, { ...both, NO_PROXY: '127.0.0.1' }), 'NO_PROXY does not work')
  must((await tunnels()) === before + 1, 'NO_PROXY does not lead past the proxy')
  return problems
}
