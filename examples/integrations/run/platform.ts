import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Server as GrpcServer, ServerCredentials, status } from '@grpc/grpc-js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { generate } from 'selfsigned'
import { WebSocketServer } from 'ws'

/** A token service and APIs that accept its tokens, for one example. */
export interface Platform {
  readonly environment: Readonly<Record<string, string>>
  /** Number of tokens issued. */
  readonly issued: number
  /** Number of API requests rejected with 401. */
  readonly rejected: number
  close(): Promise<void>
}

const items = ['tea', 'cups']
const clientId = 'demo'
const clientSecret = 'demo-secret'

/** `POST /control/revoke` revokes all tokens, and makes the token endpoint unavailable for 2 s, which it may announce. */
export async function startPlatform(): Promise<Platform> {
  const valid = new Set<string>()
  const counts = { issued: 0, rejected: 0 }
  const spans: string[] = []
  let unavailableUntil = 0
  let announced = false
  const isValid = (authorization: string | undefined) =>
    valid.has(authorization?.replace('Bearer ', '') ?? '')

  const server = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error))
  })
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url!, 'http://localhost')
    if (pathname === '/control/revoke') {
      valid.clear()
      for (const socket of events.clients) socket.close(1008)
      unavailableUntil = Date.now() + 2_000
      announced = search === '?with-retry-after'
      return send(response, 200, {})
    }
    if (pathname === '/control/spans') return send(response, 200, spans)
    if (pathname === '/auth/oauth/client_credential/accesstoken') {
      if (Date.now() < unavailableUntil) {
        if (announced) response.setHeader('retry-after', '2')
        return send(response, 503, { error: 'temporarily_unavailable' })
      }
      const token = `token-${++counts.issued}`
      valid.add(token)
      return send(response, 200, { access_token: token, token_type: 'BearerToken', expires_in: '3599' })
    }
    if (!isValid(request.headers.authorization)) {
      counts.rejected++
      response.setHeader('www-authenticate', 'Bearer realm="orders", error="invalid_token"')
      return send(response, 401, { error: 'invalid_token' })
    }
    const orders = items.map((item, index) => ({ id: index + 1, item }))
    if (pathname === '/v1/orders') return send(response, 200, orders)
    if (pathname === '/graphql')
      return send(response, 200, { data: { orders: items.map((item) => ({ item })) } })
    if (pathname === '/v1/chat/completions') return send(response, 200, completion())
    if (pathname === '/mcp') return respondToMcp(request, response)
    if (pathname === '/v1/traces') {
      spans.push(...namesOf((await json(request)) as Traces))
      return send(response, 200, {})
    }
    send(response, 404, {})
  }
  const events = new WebSocketServer({ noServer: true })
  events.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id } = JSON.parse((data as Buffer).toString()) as { id: string }
      socket.send(JSON.stringify({ id, items }))
    })
  })
  server.on('upgrade', (request, socket, head) => {
    if (isValid(request.headers.authorization)) {
      events.handleUpgrade(request, socket, head, (accepted) => events.emit('connection', accepted, request))
    } else {
      counts.rejected++
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const grpc = await startGrpc(isValid)
  return {
    environment: {
      AUTH_URL: `${origin}/auth`,
      API_URL: origin,
      CONTROL_URL: `${origin}/control`,
      MCP_URL: `${origin}/mcp`,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
      ...grpc.environment,
    },
    get issued() {
      return counts.issued
    },
    get rejected() {
      return counts.rejected
    },
    close: () =>
      new Promise((resolve) => {
        grpc.close()
        events.close()
        for (const socket of events.clients) socket.terminate()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function completion(): object {
  const message = { role: 'assistant', content: items.join(', ') }
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }]
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return { id: '1', object: 'chat.completion', created: 0, model: 'orders', choices, usage }
}

/** OTLP in JSON. */
interface Traces {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly { name: string }[] }[] }[]
}

function namesOf({ resourceSpans }: Traces): string[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans.map(({ name }) => name))
}

async function respondToMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = new McpServer({ name: 'orders', version: '1.0.0' })
  server.registerTool('list_orders', {}, () => ({
    content: items.map((text) => ({ type: 'text' as const, text })),
  }))
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  response.on('close', () => void server.close())
  await server.connect(transport as Parameters<typeof server.connect>[0])
  await transport.handleRequest(
    request,
    response,
    request.method === 'POST' ? await json(request) : undefined,
  )
}

async function startGrpc(isValid: (authorization: string | undefined) => boolean) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const server = new GrpcServer()
  server.addService(
    {
      list: {
        path: '/orders.v1.Orders/List',
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: object) => Buffer.from(JSON.stringify(value)),
        requestDeserialize: (bytes: Buffer) => JSON.parse(String(bytes)) as object,
        responseSerialize: (value: object) => Buffer.from(JSON.stringify(value)),
        responseDeserialize: (bytes: Buffer) => JSON.parse(String(bytes)) as object,
      },
    },
    {
      list: (
        call: { metadata: { get(name: string): unknown[] } },
        done: (error: object | null, value?: object) => void,
      ) => {
        const [authorization] = call.metadata.get('authorization')
        if (isValid(String(authorization))) done(null, { items })
        else done({ code: status.UNAUTHENTICATED, details: 'The token is invalid.' })
      },
    },
  )
  const credentials = ServerCredentials.createSsl(null, [
    { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) },
  ])
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
  return {
    environment: { GRPC_TARGET: `localhost:${port}`, GRPC_CA: cert },
    close: () => server.forceShutdown(),
  }
}
