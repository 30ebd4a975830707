import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

export interface IntrospectionRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string
  readonly contentType: string
  readonly token: string
}

export interface IntrospectionServer extends AsyncDisposable {
  readonly authUrl: string
  readonly requests: IntrospectionRequest[]
  /** Responses by token. Other tokens are inactive. */
  readonly tokens: Map<string, object>
  /** Status of the responses. */
  status: number
  /** Replaces the body of the responses. */
  body: string | undefined
  /** Responses are sent once this is settled. */
  delayed: Promise<unknown>
  /** Resolves when the next request has arrived. */
  nextRequest(): Promise<void>
  stop(): Promise<void>
}

/** Starts a token service that only introspects tokens, on a real socket. */
export async function startIntrospectionServer(): Promise<IntrospectionServer> {
  let arrived = Promise.withResolvers<void>()
  const state = {
    requests: [] as IntrospectionRequest[],
    tokens: new Map<string, object>(),
    status: 200,
    body: undefined as string | undefined,
    delayed: Promise.resolve() as Promise<unknown>,
  }
  const server = createServer((request, response) => void respond(request, response))
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = await record(request)
    arrived.resolve()
    await state.delayed
    const body = state.body ?? JSON.stringify(state.tokens.get(token) ?? { active: false })
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(body)
  }
  async function record(request: IncomingMessage): Promise<string> {
    const token = new URLSearchParams(await text(request)).get('token') ?? ''
    const { authorization = '', 'content-type': contentType = '' } = request.headers
    state.requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      authorization,
      contentType,
      token,
    })
    return token
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return Object.assign(state, {
    authUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextRequest: async () => {
      await arrived.promise
      arrived = Promise.withResolvers()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  })
}

/** Starts a server in another process, on a free port. */
export function startProcess(main: string, authUrl: string, more: Record<string, string> = {}) {
  return spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PORT: '0',
      AUTH_URL: authUrl,
      CLIENT_ID: 'id',
      CLIENT_SECRET: 'secret',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The address that a server logs when it listens. */
export async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const address = /Server listening at (http\S+?)"/.exec(line)?.[1]
    if (address) {
      output.resume()
      return address
    }
  }
  throw new Error('The server exited before it listened.')
}
