import { connect, type Socket } from 'node:net'
import { GOOD_TOKEN } from './api-under-test.ts'

export interface RawRequest extends Disposable {
  readonly socket: Socket
  /** Waits until what has come back holds a text, and returns all of it. */
  received(text: string): Promise<string>
  /** Waits until the server has closed the connection. */
  readonly closed: Promise<void>
}

/** Opens a connection and sends the head of a request to the transcriptions, and as much of its body as is given. */
export function sendRaw(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array | string = '',
): RawRequest {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const closed = Promise.withResolvers<void>()
  let all = ''
  let look: () => void = () => {}
  socket.on('data', (bytes) => {
    all += bytes.toString('latin1')
    look()
  })
  socket.on('error', () => closed.resolve())
  socket.on('close', () => closed.resolve())
  const fields = {
    host: hostname,
    authorization: `Bearer ${GOOD_TOKEN}`,
    'content-type': 'audio/wav',
    ...headers,
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /v1/transcriptions HTTP/1.1\r\n${head.join('')}\r\n`)
  socket.write(body)
  return {
    socket,
    closed: closed.promise,
    received: (text) =>
      new Promise((resolve) => {
        look = () => {
          if (all.includes(text)) resolve(all)
        }
        look()
      }),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
