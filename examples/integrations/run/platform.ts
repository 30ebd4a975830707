import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer, json } from 'node:stream/consumers'
import { Server as GrpcServer, ServerCredentials, status } from '@grpc/grpc-js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { generate } from 'selfsigned'
import { WebSocketServer } from 'ws'
import { send, startPlatform as startOrders, type Platform } from '../../run/platform.ts'

const items = ['tea', 'cups']

/** The platform of the other examples, whose orders are there by GraphQL, MCP, gRPC, … too. */
export async function startPlatform(): Promise<Platform> {
  const spans: string[] = []
  const platform = await startOrders({
    open(request, response) {
      if (request.url === '/oauth/token') return passOnTokenRequest(request, response)
      return request.url === '/spans' && sendAsync(response, spans)
    },
    handle(request, response) {
      if (request.url === '/graphql')
        return sendAsync(response, { data: { orders: items.map((item) => ({ item })) } })
      if (request.url === '/v1/chat/completions') return sendAsync(response, completion())
      if (request.url === '/mcp') return respondToMcp(request, response)
      return request.url === '/v1/traces' && receiveSpans(request, response)
    },
  })
  /** At the origin of the API, as its OpenAPI document says. */
  async function passOnTokenRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = `${platform.environment['AUTH_URL']}/oauth/client_credential/accesstoken?grant_type=client_credentials`
    const headers = { 'content-type': request.headers['content-type']! }
    const passed = await fetch(url, { method: 'POST', headers, body: await buffer(request) })
    response.writeHead(passed.status, Object.fromEntries(passed.headers)).end(await passed.text())
  }
  async function receiveSpans(request: IncomingMessage, response: ServerResponse): Promise<void> {
    spans.push(...namesOf((await json(request)) as Traces))
    send(response, 200, {})
  }

  const events = new WebSocketServer({ noServer: true })
  platform.server.on('upgrade', (request, socket, head) => {
    const { authorization } = request.headers
    void platform.accepts(authorization).then((accepted) => {
      if (!accepted) return socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
      events.handleUpgrade(request, socket, head, (opened) => {
        opened.on('message', (data) => {
          const { id } = JSON.parse((data as Buffer).toString()) as { id: string }
          void platform.accepts(authorization).then((stillAccepted) => {
            if (stillAccepted) opened.send(JSON.stringify({ id, items }))
            else opened.close(1008)
          })
        })
      })
    })
  })
  const grpc = await startGrpc(platform.accepts)
  return {
    ...platform,
    environment: {
      ...platform.environment,
      ...grpc.environment,
      MCP_URL: `${platform.environment['API_URL']}/mcp`,
    },
    async close() {
      grpc.close()
      for (const socket of events.clients) socket.terminate()
      events.close()
      await platform.close()
    },
  }
}

async function sendAsync(response: ServerResponse, body: unknown): Promise<void> {
  send(response, 200, body)
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

async function startGrpc(accepts: Platform['accepts']) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const list = async (authorization: string, done: (error: object | null, value?: object) => void) => {
    if (await accepts(authorization)) done(null, { items })
    else done({ code: status.UNAUTHENTICATED, details: 'The token is invalid.' })
  }
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
        void list(String(authorization), done)
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
