import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** Sends a GET request as it is, with a target and a `Host` that no HTTP client sends; returns the status. */
export async function sendRawRequest(
  origin: string,
  target: string,
  headers: readonly (readonly [name: string, value: string])[],
): Promise<number> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const lines = [`GET ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'), 'latin1')
  const response = await text(socket)
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
}
