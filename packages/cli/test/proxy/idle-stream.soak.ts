import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { expect, it } from 'vitest'
import { startApi, startProxy } from './running-proxy.ts'

const table = createSoakTable()
/** Longer than the 300 s after which undici ends a response. */
const silentMs = 330_000

it('passes on an event stream and a long poll that are silent for longer than five minutes', async () => {
  const api = await startApi(async ({ url }, response) => {
    if (url === '/events')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n')
    await setTimeout(silentMs)
    response.end('data: two\n\n')
  })
  const { url } = await startProxy(api)
  const send = async (path: string) => {
    const [response] = (await once(get(url.href + path), 'response')) as [IncomingMessage]
    return text(response)
  }
  await table.measure('silent responses', async () => {
    const received = await Promise.all([send('/events'), send('/poll')])
    expect(received).toEqual(['data: one\n\ndata: two\n\n', 'data: two\n\n'])
    return { calls: 2, failures: 0, figures: `silent for ${silentMs / 1000} s` }
  })
})
