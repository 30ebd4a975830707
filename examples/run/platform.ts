import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTokenVerifier, type IntrospectionOptions } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { startTokenService } from '@tokenwell/token-service'

/** An API that requires an access token for every request. */
export interface OrdersApi {
  readonly url: string
  close(): Promise<void>
}

const orders = [
  { id: 1, item: 'tea' },
  { id: 2, item: 'cups' },
]

export async function startOrdersApi(introspection: IntrospectionOptions): Promise<OrdersApi> {
  // Without a cache: some examples revoke tokens.
  const verifier = createTokenVerifier({ realm: 'orders', introspection: { ...introspection, cacheMs: 0 } })
  const protect = requireToken(verifier)

  const server = createServer((request, response) => {
    // Pages of any origin may call the API: the token protects the orders.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', 'authorization, content-type')
    response.setHeader('access-control-expose-headers', 'www-authenticate')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    protect(request, response, () => {
      respond(request, response).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return send(response, 200, orders)
  const body = await new Response(request as never).json()
  send(response, 201, { id: orders.length + 1, ...(body as object) })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The services that the examples call. */
export interface Platform {
  /** Environment variables for an example. */
  readonly environment: Readonly<Record<string, string>>
  close(): Promise<void>
}

const application = { clientId: 'demo', clientSecret: 'demo-secret' }
const page = { clientId: 'page', clientSecret: 'page-secret', lifetimeSeconds: 300 }
const api = { clientId: 'orders-api', clientSecret: 'orders-api-secret' }

/** Starts a token service with its sandbox, and an API that accepts its tokens, on free ports of this machine. */
export async function startPlatform(): Promise<Platform> {
  const service = await startTokenService({
    sandbox: true,
    applications: [
      { name: 'demo', ...application, products: ['orders'] },
      { name: 'page', ...page },
      { name: 'acme', clientId: 'acme', clientSecret: 'acme-secret' },
      { name: 'globex', clientId: 'globex', clientSecret: 'globex-secret' },
    ],
    resourceServers: [api],
  })
  const orders = await startOrdersApi({ authUrl: service.authUrl, ...api })
  return {
    environment: {
      AUTH_URL: service.authUrl,
      SANDBOX_URL: service.sandboxUrl!,
      API_URL: orders.url,
      API_CLIENT_ID: api.clientId,
      API_CLIENT_SECRET: api.clientSecret,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: application.clientSecret,
      PAGE_CLIENT_ID: page.clientId,
      PAGE_CLIENT_SECRET: page.clientSecret,
    },
    close: async () => {
      await orders.close()
      await service.close()
    },
  }
}
