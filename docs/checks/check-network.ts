import { spawnSync } from 'node:child_process'
import { sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { docs, root } from './read-site.ts'
import { runNode } from './run-node.ts'

/** A proxy, a token service with a certificate of a private CA, and a token endpoint that accepts assertions. */
export interface Network {
  readonly environment: Readonly<Record<string, string>>
  close(): void
}

/** @param authUrl the token service behind the TLS server */
export async function startNetwork(authUrl: string): Promise<Network> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-network-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const made = ['req', '-x509', ...curve, '-nodes', '-days', '2', ...subject, '-keyout', key, '-out', cert]
  const { status, stderr } = spawnSync('openssl', made, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl made no certificate: ${stderr}`)

  const certificate = { key: readFileSync(key), cert: readFileSync(cert) }
  const secure = createSecureServer(certificate, (incoming, response) =>
    forward(incoming, response, new URL(incoming.url!, authUrl)),
  )

  let passed = 0
  const proxy = createServer((incoming, response) => {
    // Without arguments, it reports how many requests it has forwarded.
    if (incoming.url!.startsWith('/')) return void response.end(String(passed))
    passed++
    forward(incoming, response, new URL(incoming.url!))
  })
  proxy.on('connect', ({ url }, socket) => {
    passed++
    const { hostname, port } = new URL(`http://${url}`)
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })

  const assertions = createServer((incoming, response) => void respond(incoming, response))
  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(incoming))
    const issuer = form.get('client_id') ?? ''
    const accepted = acceptsAssertion(form.get('client_assertion') ?? '', issuer)
    response.writeHead(accepted ? 200 : 401, { 'content-type': 'application/json' })
    const tokenType = incoming.headers['dpop'] ? 'DPoP' : 'Bearer'
    const token = { access_token: `for ${issuer}`, token_type: tokenType, expires_in: 3600 }
    response.end(JSON.stringify(accepted ? token : { error: 'invalid_client' }))
  }
  const assertionFile = join(folder, 'assertion')
  writeFileSync(assertionFile, `${signedBy(readFileSync(key, 'utf8'), 'orders')}\n`)

  const [proxyPort, securePort, assertionPort] = await Promise.all(
    [proxy, secure, assertions].map((server) => listen(server)),
  )
  return {
    environment: {
      PROXY_URL: `http://127.0.0.1:${proxyPort}`,
      PRIVATE_AUTH_URL: `https://127.0.0.1:${securePort}`,
      CA_FILE: cert,
      ASSERTION_TOKEN_URL: `http://127.0.0.1:${assertionPort}/token`,
      // Another name than the one that a program of the documents reads.
      EXAMPLE_ASSERTION_FILE: assertionFile,
      PRIVATE_KEY: readFileSync(key, 'utf8'),
    },
    close() {
      proxy.close().closeAllConnections()
      secure.close().closeAllConnections()
      assertions.close().closeAllConnections()
      rmSync(folder, { recursive: true })
    },
  }
}

function acceptsAssertion(jwt: string, issuer: string): boolean {
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as Record<string, unknown>
  return signature.length > 40 && header !== '' && claims['iss'] === issuer && claims['sub'] === issuer
}

function signedBy(privateKey: string, subject: string): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encode({ alg: 'ES256' })}.${encode({ iss: subject, sub: subject })}`
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, url: URL): void {
  const { method, headers } = incoming
  const onward = request(url, { method: method!, headers }, (response) => {
    outgoing.writeHead(response.statusCode!, response.headers)
    response.pipe(outgoing)
  })
  incoming.pipe(onward)
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

const core = join(root, 'packages/core/dist/index.js')

/** Tests the statements about Node's own variables on the page about proxies and private CAs. */
export async function checkNetwork(
  network: Network,
  platform: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { PROXY_URL = '', PRIVATE_AUTH_URL = '', CA_FILE = '' } = network.environment
  const getToken = async (authUrl: string, environment: Record<string, string>) => {
    const program = `
      import { clientCredentials } from ${JSON.stringify(core)}
      const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = process.env
      const authUrl = ${JSON.stringify(authUrl)}
      await clientCredentials({ authUrl, clientId, clientSecret, maxAttempts: 1 }).getToken()`
    const args = ['--input-type=module', '--eval', program]
    return (await runNode(args, docs, { ...platform, ...environment })).code === 0
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
