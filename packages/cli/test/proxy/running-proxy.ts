import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { startTokenEndpoint } from '@tokenwell/internal-testing'
import { expect, onTestFinished } from 'vitest'
import { startTokenwell, type TokenwellProcess } from '../tokenwell-process.ts'

export interface ProxyProcess extends TokenwellProcess {
  readonly url: URL
}

/** Starts the built command, by default with a token endpoint of its own. */
export async function startProxy(
  target: string,
  environment?: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<ProxyProcess> {
  const proxy = startTokenwell(
    ['proxy', '--to', target, ...args],
    environment ?? (await environmentOfEndpoint()),
  )
  await proxy.wrote('Ctrl+C')
  // The other stream may arrive later.
  await expect.poll(() => proxy.written.stdout).toMatch(/\n$/)
  return { ...proxy, url: new URL(proxy.written.stdout.trim()) }
}

async function environmentOfEndpoint(): Promise<Record<string, string>> {
  const endpoint = await startTokenEndpoint()
  onTestFinished(() => endpoint.close())
  return { TOKEN_ENDPOINT: `${endpoint.origin}/token`, CLIENT_ID: 'a-client', CLIENT_SECRET: 'a-secret' }
}

type Handle = (...exchange: Parameters<RequestListener>) => void | Promise<void>

/** Starts an API on Node's own server. @returns its origin */
export async function startApi(handle: Handle): Promise<string> {
  const server = createServer((...exchange) => void handle(...exchange)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts an API that responds with bytes of a test's choice to each message without trailers. @returns its origin */
export async function startRawApi(respond: (message: string, socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    let message = ''
    socket.on('data', function read(part: Buffer) {
      message += part.toString('latin1')
      const [, length] = /^content-length: (\d+)\r\n/im.exec(message) ?? []
      const end = /^transfer-encoding: chunked\r\n/im.test(message) ? '\r\n0\r\n\r\n' : '\r\n\r\n'
      const at = message.indexOf(end)
      if (at < 0 || message.length - at - end.length < Number(length ?? 0)) return
      respond(message, socket)
      message = ''
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * Sends bytes, and returns what arrives until the connection is closed, one character per byte. Leaves if nothing has
 * arrived for `patienceMs`, as the message may be incomplete.
 */
export function exchange({ port }: URL, message: string | Buffer, patienceMs?: number): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(typeof message === 'string' ? Buffer.from(message, 'latin1') : message)
    })
    if (patienceMs !== undefined)
      socket.setTimeout(patienceMs, () => {
        socket.destroy()
      })
    socket.on('data', (part: Buffer) => (received += part.toString('latin1')))
    socket.on('error', () => {}).once('close', () => resolve(received))
  })
}
