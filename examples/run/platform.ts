import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { startTokenService, type TokenServiceOptions } from '@tokenwell/token-service'

/** A token service with its sandbox, and an API that accepts its tokens: what examples and tests of whole programs call. */
export interface Platform {
  /** Environment variables for a program. */
  readonly environment: Readonly<Record<string, string>>
  /** The requests that the API has received so far; also at `GET /requests` of the API. */
  readonly requests: readonly ReceivedRequest[]
  /** The server of the API. */
  readonly server: Server
  /** Whether the API accepts an `Authorization` header. */
  readonly accepts: (authorization: string | undefined) => Promise<boolean>
  /** The number of tokens issued. */
  countTokens(): Promise<number>
  close(): Promise<void>
}

export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly status: number
}

/** Responds to a request; returns false to leave it to the next handler. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => false | Promise<void>

export interface PlatformOptions {
  /** Applications besides those that all programs have. */
  readonly applications?: TokenServiceOptions['applications']
  /** Serves what needs no token, before the API. */
  readonly open?: Handler
  /** Serves requests with a valid token; the API responds to the others with orders. */
  readonly handle?: Handler
}

const orders = [
  { id: 1, item: 'tea' },
  { id: 2, item: 'cups' },
]
const application = { clientId: 'demo', clientSecret: 'demo-secret' }
const page = { clientId: 'page', clientSecret: 'page-secret', lifetimeSeconds: 300 }
const api = { clientId: 'orders-api', clientSecret: 'orders-api-secret' }
const tokenPath = '/oauth/client_credential/accesstoken'

/** Starts the platform on free ports of this machine. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { applications = [], open = () => false, handle = () => false } = options
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'key-1' }
  const service = await startTokenService({
    sandbox: true,
    corsOrigins: ['*'],
    applications: [
      { name: 'demo', ...application, products: ['orders'], jwks: { keys: [key] } },
      { name: 'page', ...page },
      { name: 'acme', clientId: 'acme', clientSecret: 'acme-secret' },
      { name: 'globex', clientId: 'globex', clientSecret: 'globex-secret' },
      ...applications,
    ],
    resourceServers: [api],
  })
  // Without a cache: some programs revoke tokens. With a long time limit: the machine may be busy.
  const introspection = { authUrl: service.authUrl, ...api, cacheMs: 0, timeoutMs: 60_000 }
  const verifier = createTokenVerifier({ realm: 'orders', introspection })
  const protect = requireToken(verifier)
  const requests: ReceivedRequest[] = []

  const server = createServer((request, response) => {
    // Pages of any origin may call the API: the token protects the orders.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', 'authorization, content-type')
    response.setHeader('access-control-expose-headers', 'www-authenticate')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (request.url === '/requests') return send(response, 200, requests)
    const destroy = () => void response.destroy()
    const opened = open(request, response)
    if (opened !== false) return void opened.catch(destroy)
    response.once('finish', () => {
      requests.push({ method: request.method!, url: request.url!, status: response.statusCode })
    })
    protect(request, response, () => {
      const handled = handle(request, response)
      ;(handled === false ? respondWithOrders(request, response) : handled).catch(destroy)
    })
  })
  // Node's 5 s are as long as an outage in the examples: a connection would end while a client sends its next request.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    environment: {
      AUTH_URL: service.authUrl,
      SANDBOX_URL: service.sandboxUrl!,
      API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      API_AUTH_URL: service.authUrl,
      API_CLIENT_ID: api.clientId,
      API_CLIENT_SECRET: api.clientSecret,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: application.clientSecret,
      PRIVATE_KEY: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
      PAGE_AUTH_URL: service.authUrl,
      PAGE_CLIENT_ID: page.clientId,
      PAGE_CLIENT_SECRET: page.clientSecret,
    },
    requests,
    server,
    accepts: (authorization) =>
      verifier.verify(authorization).then(
        () => true,
        () => false,
      ),
    async countTokens() {
      const journal = (await (await fetch(`${service.sandboxUrl}/journal`)).json()) as {
        requests: { path: string; status: number }[]
      }
      return journal.requests.filter(({ path, status }) => path === tokenPath && status === 200).length
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await service.close()
    },
  }
}

async function respondWithOrders(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return send(response, 200, orders)
  const body = await new Response(request as never).json()
  send(response, 201, { id: orders.length + 1, ...(body as object) })
}

/** Sends JSON. */
export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
