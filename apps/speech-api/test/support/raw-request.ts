import { connect, type Socket } from 'node:net'
import { VALID_TOKEN } from './test-api.ts'

export interface RawRequest extends Disposable {
  readonly socket: Socket
  /** Waits until the data received so far contains a text, and returns all of it. */
  received(text: string): Promise<string>
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
}

/** Opens a connection and sends the head of `POST /v1/transcriptions` and a part of its body. */
export function sendRaw(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array | string = '',
): RawRequest {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const closed = Promise.withResolvers<void>()
  let all = ''
  let check: () => void = () => {}
  socket.on('data', (bytes) => {
    all += bytes.toString('latin1')
    check()
  })
  socket.on('error', () => closed.resolve())
  socket.on('close', () => closed.resolve())
  const fields = {
    host: hostname,
    authorization: `Bearer ${VALID_TOKEN}`,
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
        check = () => {
          if (all.includes(text)) resolve(all)
        }
        check()
      }),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
