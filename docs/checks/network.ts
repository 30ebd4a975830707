import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A proxy, and a token service whose certificate only a private CA vouches for. */
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
    // By itself it reports how many requests it has passed on.
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

  const [proxyPort, securePort] = await Promise.all([listen(proxy), listen(secure)])
  return {
    environment: {
      PROXY_URL: `http://127.0.0.1:${proxyPort}`,
      PRIVATE_AUTH_URL: `https://127.0.0.1:${securePort}`,
      CA_FILE: cert,
    },
    close() {
      proxy.close().closeAllConnections()
      secure.close().closeAllConnections()
      rmSync(folder, { recursive: true })
    },
  }
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
