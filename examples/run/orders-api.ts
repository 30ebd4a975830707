import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An API that requires an access token for every request and introspects it (RFC 7662). */
export interface OrdersApi {
  readonly url: string
  close(): Promise<void>
}

const orders = [
  { id: 1, item: 'tea' },
  { id: 2, item: 'cups' },
]

export async function startOrdersApi(authUrl: string, credentials: string): Promise<OrdersApi> {
  async function isActive(token: string): Promise<boolean> {
    const response = await fetch(`${authUrl}/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(credentials)}` },
      body: new URLSearchParams({ token }),
    })
    return ((await response.json()) as { active: boolean }).active
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Pages of any origin may call the API: the token protects the orders.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', 'authorization, content-type')
    response.setHeader('access-control-expose-headers', 'www-authenticate')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) return reject(response, 'Bearer realm="orders"')
    if (!(await isActive(token))) return reject(response, 'Bearer realm="orders", error="invalid_token"')
    if (request.method !== 'POST') return send(response, 200, orders)
    const body = await new Response(request as never).json()
    send(response, 201, { id: orders.length + 1, ...(body as object) })
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
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

function reject(response: ServerResponse, challenge: string): void {
  response.setHeader('www-authenticate', challenge)
  send(response, 401, { error: 'The access token is missing or invalid.' })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
