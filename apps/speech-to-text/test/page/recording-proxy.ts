import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP proxy that keeps everything that goes through it to the browser. */
export interface RecordingProxy {
  readonly server: string
  /** Heads and bodies of the answers, as texts. */
  readonly answers: readonly string[]
  close(): void
}

export async function startRecordingProxy(): Promise<RecordingProxy> {
  const answers: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = request(url!, { method: method!, headers }, (answer) => {
      const index = answers.push(JSON.stringify([url, answer.statusCode, answer.rawHeaders])) - 1
      answer.on('data', (bytes: Buffer) => (answers[index] += bytes.toString('latin1')))
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    answers,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}
