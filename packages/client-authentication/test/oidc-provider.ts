import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { Provider, type ClientMetadata } from 'oidc-provider'
import { vi } from 'vitest'

export interface OidcProvider {
  readonly issuer: string
  readonly tokenUrl: string
  /** Form parameters of the token requests so far. */
  readonly requests: URLSearchParams[]
  close(): Promise<void>
}

/** An authorization server with one client `client`; over TLS that asks for client certificates if `tls` is given. */
export async function startOidcProvider(
  client: Partial<ClientMetadata>,
  tls?: ServerOptions,
): Promise<OidcProvider> {
  const silenced = (['info', 'warn'] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation(() => {}),
  )
  let provider: Provider
  const requests: URLSearchParams[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => requests.push(new URLSearchParams(Buffer.concat(chunks).toString())))
    void provider.callback()(request, response)
  }
  const server: Server = tls
    ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, listener)
    : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `${tls ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}`
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'client',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        ...client,
      },
    ],
    clientAuthMethods: ['private_key_jwt', 'self_signed_tls_client_auth', 'tls_client_auth'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        selfSignedTlsClientAuth: true,
        tlsClientAuth: true,
        getCertificate: (context) => {
          const raw = (context.socket as TLSSocket).getPeerCertificate?.()?.raw
          return raw && new X509Certificate(raw)
        },
        certificateAuthorized: (context) => (context.socket as TLSSocket).authorized,
        certificateSubjectMatches: (context, _property, expected) =>
          (context.socket as TLSSocket).getPeerCertificate().subject.CN === expected,
      },
    },
  })
  return {
    issuer,
    tokenUrl: `${issuer}/token`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      for (const spy of silenced) spy.mockRestore()
    },
  }
}
