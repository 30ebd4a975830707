import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What arrived, read to its end; each byte of the body is one character. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What to answer; `drop` breaks the connection. */
export type ScriptedAnswer = 'drop' | WholeAnswer

interface WholeAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  /** Breaks the connection after the body. */
  readonly thenDrop?: boolean
}

/** An HTTP server of a test's own: it answers what the test says, and remembers what it saw. */
export interface ScriptedServer {
  readonly origin: string
  readonly requests: SeenRequest[]
  /** Headers and bodies of all its answers. */
  readonly sent: string[]
  /** May wait, for a server that does not answer. */
  answer: (request: SeenRequest) => ScriptedAnswer | Promise<ScriptedAnswer>
  /** The next request that arrives whole. */
  nextRequest(): Promise<SeenRequest>
  close(): Promise<void>
}

/** Listens on a free port of the loopback address. */
export async function startScriptedServer(answer: ScriptedServer['answer']): Promise<ScriptedServer> {
  const requests: SeenRequest[] = []
  const sent: string[] = []
  const waiting: ((request: SeenRequest) => void)[] = []

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = message
    const request = { method, url, headers, body: Buffer.concat(chunks).toString('latin1') }
    requests.push(request)
    for (const resolve of waiting.splice(0)) resolve(request)
    const answer = await scripted.answer(request)
    sent.push(JSON.stringify(answer))
    if (answer === 'drop') response.destroy()
    else if (answer.thenDrop)
      response.writeHead(200, answer.headers).write(answer.body, () => response.destroy())
    else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
  }

  const server = createServer((message, response) => {
    // A caller that went away before it was read.
    serve(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const scripted: ScriptedServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sent,
    answer,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
  return scripted
}

/** An answer that never comes. */
export const silence: Promise<never> = new Promise(() => {})

/** An answer in JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): ScriptedAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
