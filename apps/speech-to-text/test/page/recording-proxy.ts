import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP proxy that records all responses to the browser. */
export interface RecordingProxy {
  readonly server: string
  /** Heads and bodies of the responses, as text. */
  readonly responses: readonly string[]
  close(): void
}

export async function startRecordingProxy(): Promise<RecordingProxy> {
  const responses: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = request(url!, { method: method!, headers }, (response) => {
      const index = responses.push(JSON.stringify([url, response.statusCode, response.rawHeaders])) - 1
      response.on('data', (bytes: Buffer) => (responses[index] += bytes.toString('latin1')))
      outgoing.writeHead(response.statusCode!, response.rawHeaders)
      response.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    responses,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}
