import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface SeenIntrospection {
  readonly method: string
  readonly path: string
  readonly authorization: string
  readonly contentType: string
  readonly token: string
}

export interface IntrospectionServer extends AsyncDisposable {
  readonly authUrl: string
  readonly seen: SeenIntrospection[]
  /** What is answered about a token; every other is inactive. */
  readonly tokens: Map<string, object>
  /** Answers with this status instead. */
  status: number
  /** Answers with this text instead. */
  body: string | undefined
  /** Answers only when this is settled. */
  held: Promise<unknown>
  /** Settled when the next question has come. */
  asked(): Promise<void>
  stop(): Promise<void>
}

/** A token service that knows nothing but introspection, on a real socket. */
export async function startIntrospectionServer(): Promise<IntrospectionServer> {
  let arrived = Promise.withResolvers<void>()
  const state = {
    seen: [] as SeenIntrospection[],
    tokens: new Map<string, object>(),
    status: 200,
    body: undefined as string | undefined,
    held: Promise.resolve() as Promise<unknown>,
  }
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = await note(request)
    arrived.resolve()
    await state.held
    const body = state.body ?? JSON.stringify(state.tokens.get(token) ?? { active: false })
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(body)
  }
  async function note(request: IncomingMessage): Promise<string> {
    const token = new URLSearchParams(await text(request)).get('token') ?? ''
    const { authorization = '', 'content-type': contentType = '' } = request.headers
    state.seen.push({
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
    asked: async () => {
      await arrived.promise
      arrived = Promise.withResolvers()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  })
}
