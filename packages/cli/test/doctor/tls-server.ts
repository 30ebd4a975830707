import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { generate } from 'selfsigned'
import { onTestFinished } from 'vitest'

const day = 86_400_000

export interface TlsServerOptions {
  /** Host name in the certificate. */
  readonly name?: string
  /** When the certificate becomes valid and expires, from now. */
  readonly fromDays?: number
  readonly toDays?: number
  /** Signed by a certificate authority instead of self-signed. */
  readonly byAuthority?: boolean
}

export interface TlsServer {
  readonly origin: string
  /** The certificate in PEM format. */
  readonly certificate: string
  /** Bodies of the requests that arrived. */
  readonly requests: string[]
  /** Which server each connection named (RFC 6066, section 3). */
  readonly namedServers: string[]
}

/** A token endpoint over HTTPS. */
export async function startTlsServer(options: TlsServerOptions = {}): Promise<TlsServer> {
  const { name = 'localhost', fromDays = -1, toDays = 90, byAuthority = false } = options
  const authority = byAuthority ? await certify('an-authority', -1, 90) : undefined
  const { private: key, cert } = await certify(name, fromDays, toDays, authority)
  const requests: string[] = []
  const namedServers: string[] = []
  const SNICallback: TlsOptions['SNICallback'] = (servername, done) => {
    namedServers.push(servername)
    done(null)
  }
  const server = createServer({ key, cert, SNICallback }, (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push(body)
      response.setHeader('cache-control', 'no-store').setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ access_token: 'canary-token', expires_in: 3600 }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { origin: `https://localhost:${port}`, certificate: cert, requests, namedServers }
}

function certify(
  name: string,
  fromDays: number,
  toDays: number,
  authority?: { readonly private: string; readonly cert: string },
) {
  return generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + fromDays * day),
    notAfterDate: new Date(Date.now() + toDays * day),
    extensions: [
      { name: 'basicConstraints', cA: authority === undefined },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ],
    ...(authority && { ca: { key: authority.private, cert: authority.cert } }),
  })
}
