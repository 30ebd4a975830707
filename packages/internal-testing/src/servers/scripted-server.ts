import { Buffer } from 'node:buffer'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that was received completely. Each byte of the body is one character. */
export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The response to send; `'drop'` closes the connection without one. */
export type ScriptedResponse = 'drop' | CompleteResponse

interface CompleteResponse {
  /** @default 200 */
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  /** Closes the connection after the body. */
  readonly thenDrop?: boolean
}

/** An HTTP server that responds as a test specifies and records its requests. */
export interface ScriptedServer {
  readonly origin: string
  readonly requests: ReceivedRequest[]
  /** Every response so far, with headers and body, as text. */
  readonly sent: string[]
  /** Returns the response to a request. Assign another function at any time. */
  respond: (request: ReceivedRequest) => ScriptedResponse | Promise<ScriptedResponse>
  /** Resolves to the next request that is received completely. */
  nextRequest(): Promise<ReceivedRequest>
  close(): Promise<void>
}

/** Starts a scripted server on a free port of the loopback address. */
export async function startScriptedServer(respond: ScriptedServer['respond']): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = []
  const sent: string[] = []
  const waiting: ((request: ReceivedRequest) => void)[] = []

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = message
    const request = { method, url, headers, body: Buffer.concat(chunks).toString('latin1') }
    requests.push(request)
    for (const resolve of waiting.splice(0)) resolve(request)
    const scripted = await server.respond(request)
    sent.push(JSON.stringify(scripted))
    if (scripted === 'drop') response.destroy()
    else if (scripted.thenDrop)
      response.writeHead(200, scripted.headers).write(scripted.body, () => response.destroy())
    else response.writeHead(scripted.status ?? 200, scripted.headers).end(scripted.body)
  }

  const listener = createServer((message, response) => {
    // The client may disconnect before its request is read.
    serve(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const server: ScriptedServer = {
    origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    requests,
    sent,
    respond,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve, reject) => {
        listener.close((error) => (error ? reject(error) : resolve()))
        listener.closeAllConnections()
      }),
  }
  return server
}

/** A response that never arrives. */
export const noResponse: Promise<never> = new Promise(() => {})

/** A JSON response. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): ScriptedResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
