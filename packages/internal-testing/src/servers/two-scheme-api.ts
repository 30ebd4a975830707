import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { generate } from 'selfsigned'

/** An API whose host and port respond to HTTPS and to plain HTTP, so that its two origins differ in the scheme alone. */
export interface TwoSchemeApi {
  readonly secureOrigin: string
  readonly plainOrigin: string
  /** In PEM format. Clients have to trust it. */
  readonly certificate: string
  readonly requests: readonly {
    readonly scheme: 'https' | 'http'
    readonly url: string
    readonly headers: Readonly<Record<string, unknown>>
  }[]
  close(): Promise<void>
}

/** Starts it on a free port. `/to?status=…&url=…` redirects; everything else is a JSON response with status 200. */
export async function startTwoSchemeApi(): Promise<TwoSchemeApi> {
  const requests: TwoSchemeApi['requests'][number][] = []
  const respond =
    (scheme: 'https' | 'http'): RequestListener =>
    ({ url = '', headers }, response) => {
      requests.push({ scheme, url, headers })
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      if (pathname !== '/to') response.setHeader('content-type', 'application/json').end('{"arrived":true}')
      else
        response.writeHead(Number(searchParams.get('status')), { location: searchParams.get('url')! }).end()
    }
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const servers = {
    http: createServer(respond('http')),
    https: createSecureServer({ key, cert }, respond('https')),
  }
  const sockets = new Set<Socket>()
  const listener = createTcpServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => {})
    socket.once('data', (start) => {
      socket.pause()
      // A TLS handshake starts with this byte (RFC 8446, section 5.1).
      servers[start[0] === 22 ? 'https' : 'http'].emit('connection', socket)
      socket.unshift(start)
      process.nextTick(() => socket.resume())
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  return {
    secureOrigin: `https://localhost:${port}`,
    plainOrigin: `http://localhost:${port}`,
    certificate: cert,
    requests,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
