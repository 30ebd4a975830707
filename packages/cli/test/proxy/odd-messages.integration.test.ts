import { createSoakTable, type SoakRow } from '@tokenwell/internal-testing/soak-table'
import { createRandom } from '@tokenwell/internal-testing/random'
import { describe, expect, it } from 'vitest'
import { oddRequest, oddResponse } from './odd-messages.ts'
import { canResolveOutside } from './path-readers.ts'
import { exchange, startApi, startProxy, startRawApi, type ProxyProcess } from './running-proxy.ts'

// The same messages each time; `pnpm soak` sends many more, with a random seed, and `SEED` repeats a run.
const isSoak = process.env['TOKENWELL_SOAK'] === '1'
const count = isSoak ? 10_000 : 400
const seed = Number(process.env['SEED'] ?? (isSoak ? Date.now() % 1e9 : 20_261_126))
const table = isSoak ? createSoakTable() : undefined

/** A request without an end gets no response. */
const patienceMs = 1_000

async function measure(what: string, work: () => Promise<SoakRow>): Promise<void> {
  await (table ? table.measure(`${what}, seed ${seed}`, work) : work())
}

/** Calls `work` with each number, 20 at a time. */
async function forEachNumber(work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: 20 }, worker))
}

async function expectRunning({ child, written, url }: ProxyProcess): Promise<void> {
  expect(child.exitCode ?? child.signalCode).toBeNull()
  expect(written.stderr.split('\n')).toHaveLength(2)
  expect((await fetch(`${url.href}/still-there`)).status).toBe(200)
}

describe(`tokenwell proxy, with seed ${seed}`, () => {
  it(`survives ${count} odd requests, and sends none of them outside of the target`, async () => {
    const sent: { url: string; authorization: string | undefined }[] = []
    const api = await startApi((request, response) => {
      sent.push({ url: request.url!, authorization: request.headers.authorization })
      request.resume().once('error', () => {})
      response.end('here')
    })
    const proxy = await startProxy(`${api}/v1`)
    const { pathname: base, host } = proxy.url
    // Later requests do not wait for the token.
    await fetch(proxy.url)
    await measure('odd requests', async () => {
      await forEachNumber(async (number) => {
        await exchange(proxy.url, oddRequest(createRandom(seed + number), base, host), patienceMs)
      })
      return { calls: count, failures: 0, figures: `${sent.length} forwarded` }
    })
    await expectRunning(proxy)
    // They are odd, but not all of them.
    expect(sent.length).toBeGreaterThan(count / 20)
    expect(sent.filter(({ url }) => canResolveOutside(url, '/v1'))).toEqual([])
    expect(sent.filter(({ authorization }) => !authorization?.startsWith('Bearer token-'))).toEqual([])
  })

  it(`survives ${count} odd responses, and shows none of them the token`, async () => {
    const api = await startRawApi((head, socket) => {
      const [, number] = /^\S+ \/v1\/(\d+)/.exec(head) ?? []
      if (number === undefined) {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
        return
      }
      const random = createRandom(seed + Number(number))
      const response = Buffer.from(oddResponse(random), 'latin1')
      const cut = Math.floor(random() * response.length)
      const end = random()
      socket.write(response.subarray(0, cut))
      if (end < 0.1) socket.resetAndDestroy()
      else if (end < 0.2) socket.end()
      else socket.end(response.subarray(cut))
    })
    const proxy = await startProxy(`${api}/v1`)
    const { pathname: base, host } = proxy.url
    // Later requests do not wait for the token.
    await fetch(proxy.url)
    let forwarded = 0
    await measure('odd responses', async () => {
      await forEachNumber(async (number) => {
        const method = ['GET', 'HEAD', 'POST'][number % 3]!
        const length = method === 'POST' ? 'Content-Length: 4\r\n' : ''
        const received = await exchange(
          proxy.url,
          `${method} ${base}/${number} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${length}\r\n${length && 'body'}`,
        )
        expect(received).not.toContain('Bearer token-')
        if (received !== '' && !received.startsWith('HTTP/1.1 502')) forwarded++
      })
      return { calls: count, failures: 0, figures: `${forwarded} forwarded` }
    })
    await expectRunning(proxy)
    expect(forwarded).toBeGreaterThan(count / 20)
  })
})
