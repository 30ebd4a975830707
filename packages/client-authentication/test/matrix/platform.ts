import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTokenVerifier, TokenVerificationError, type TokenVerifier } from '@tokenwell/resource-server'
import { startTokenService } from '@tokenwell/token-service'
import { exportJWK, exportPKCS8, generateKeyPair, SignJWT, type CryptoKey } from 'jose'

export const formats = ['opaque', 'jwt'] as const
export type Format = (typeof formats)[number]

export const verifiers = ['introspection', 'jwt', 'both'] as const
export type Verifier = (typeof verifiers)[number]

export const issuer = 'https://ci.example.com'
export const clientSecret = 'secret-of-the-application-0123456789'
const audience = 'https://orders.example.com'

/** What a client needs for an application whose tokens have this format. */
export interface Registration {
  readonly clientId: Format
  /** A JWT of the trusted issuer for the application. */
  readonly identity: string
  readonly subject: string
}

/** A token service, an issuer that it trusts, and an API that verifies tokens in each way: at `/introspection`, `/jwt`, `/both`. */
export interface Platform {
  readonly authUrl: string
  readonly api: string
  readonly clientKey: CryptoKey
  readonly clientKeyPem: string
  readonly issuerKeyPem: string
  register(format: Format): Promise<Registration>
  close(): Promise<void>
}

export async function startPlatform(): Promise<Platform> {
  const [client, trusted] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
  ])
  const jwksOf = async (key: CryptoKey, kid: string) => ({
    keys: [{ ...(await exportJWK(key)), kid, alg: 'RS256' }],
  })
  const jwks = await jwksOf(client.publicKey, 'client-key')
  const subjectOf = (format: Format) => `workload:${format}`
  const service = await startTokenService({
    format: 'standard',
    applications: formats.map((format) => ({
      name: format,
      clientId: format,
      clientSecret,
      jwks,
      audiences: [audience],
      tokenFormat: format,
      responseForm: 'rfc6749',
    })),
    resourceServers: [{ clientId: 'api', clientSecret, audiences: [audience] }],
    trustedIssuers: [
      {
        issuer,
        jwksUrl: `${issuer}/jwks`,
        rules: formats.map((format) => ({ clientId: format, claims: { sub: subjectOf(format) } })),
      },
    ],
    fetchKeys: async () => Response.json(await jwksOf(trusted.publicKey, 'issuer-key')),
  })
  const { authUrl } = service
  const introspection = { authUrl, clientId: 'api', clientSecret }
  const api = await startApi({
    introspection: createTokenVerifier({ introspection, audience }),
    jwt: createTokenVerifier({ issuer: authUrl, audience }),
    both: createTokenVerifier({ introspection, issuer: authUrl, audience, checkRevocation: true }),
  })
  return {
    authUrl,
    api: api.origin,
    clientKey: client.privateKey,
    clientKeyPem: await exportPKCS8(client.privateKey),
    issuerKeyPem: await exportPKCS8(trusted.privateKey),
    register: async (format) => ({
      clientId: format,
      subject: subjectOf(format),
      identity: await new SignJWT()
        .setProtectedHeader({ alg: 'RS256', kid: 'issuer-key' })
        .setIssuer(issuer)
        .setSubject(subjectOf(format))
        .setAudience(authUrl)
        .setIssuedAt()
        .setExpirationTime('5 min')
        .sign(trusted.privateKey),
    }),
    async close() {
      await api.close()
      await service.close()
    },
  }
}

async function startApi(verifierOf: Readonly<Record<Verifier, TokenVerifier>>) {
  let origin = ''
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const verifier = verifierOf[url.slice(1) as Verifier]
    const verified = { method, url: origin + url, dpop: headers['dpop']?.toString() }
    try {
      await verifier.verify(headers.authorization, { request: verified })
      response.end('works')
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      response.writeHead(error.status, error.headers).end(JSON.stringify(error.body))
    }
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
