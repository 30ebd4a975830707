import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** A Redis server at a distance. */
export interface DistantRedis extends AsyncDisposable {
  readonly url: string
}

interface Distance {
  readonly redisPort: number
  readonly roundTripMs: number
}

/** Delays each reply, in a separate thread: a test that keeps its own one busy is no further from Redis. */
export async function startDistantRedis(redisPort: number, roundTripMs: number): Promise<DistantRedis> {
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { redisPort, roundTripMs } satisfies Distance,
  })
  const [port] = (await once(worker, 'message')) as [number]
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

if (!isMainThread && parentPort) {
  const { redisPort, roundTripMs } = workerData as Distance
  const server = createServer((near) => {
    const far = connect(redisPort, '127.0.0.1')
    near.pipe(far)
    far.on('data', (data) => setTimeout(() => near.write(data), roundTripMs))
    for (const socket of [near, far]) {
      socket
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => [near, far].map((end) => end.destroy()))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has none
  parentPort.postMessage((server.address() as AddressInfo).port)
}
