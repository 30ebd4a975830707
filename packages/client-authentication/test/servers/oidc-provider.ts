import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { randomBytes, X509Certificate } from 'node:crypto'
import { Provider, type ClientAuthMethod, type ClientMetadata } from 'oidc-provider'
import { vi } from 'vitest'

export interface OidcProvider {
  readonly issuer: string
  readonly tokenEndpoint: string
  /** Form parameters of the token requests so far. */
  readonly requests: URLSearchParams[]
  tokenRequests(): readonly URLSearchParams[]
  close(): Promise<void>
}

export interface OidcProviderOptions {
  /** Served over TLS with client certificates. */
  readonly tls?: ServerOptions
  /** Whether proofs of possession require a nonce. */
  readonly requireNonce?: boolean
  /** The methods that clients may authenticate by. */
  readonly methods?: ClientAuthMethod[]
  /** The path of the issuer. */
  readonly path?: string
}

/** An authorization server with one client `client`. */
export async function startOidcProvider(
  client: Partial<ClientMetadata>,
  { tls, requireNonce = false, path = '', methods }: OidcProviderOptions = {},
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
    const { url = '' } = request
    if (!url.startsWith(path)) return void response.writeHead(404).end()
    Object.assign(request, { originalUrl: url, url: url.slice(path.length) })
    void provider.callback()(request, response)
  }
  const server: Server = tls
    ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, listener)
    : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `${tls ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}${path}`
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
    clientAuthMethods: methods ?? [
      'client_secret_post',
      'client_secret_basic',
      'private_key_jwt',
      'self_signed_tls_client_auth',
      'tls_client_auth',
    ],
    enabledJWA: {
      clientAuthSigningAlgValues: ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA'],
      dPoPSigningAlgValues: ['ES256', 'EdDSA', 'PS256'],
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => requireNonce },
      introspection: { enabled: true },
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
    tokenEndpoint: `${issuer}/token`,
    requests,
    tokenRequests: () => requests.filter((form) => form.has('grant_type')),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      for (const spy of silenced) spy.mockRestore()
    },
  }
}
