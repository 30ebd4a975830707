import { createTokenFetch, createTokenProvider, type AttachOptions } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'
import { api, fine, get, sendThrough } from './send-through.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }

function start(options: Partial<AttachOptions> = {}) {
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  return createTokenAttacher(tokens, { allowedOrigins: [api], ...options })
}

/** The attacher of a fetch that returns one response. */
function startFetch(response: Response, options: Partial<AttachOptions>) {
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  return createTokenFetch(tokens, { allowedOrigins: [api], fetch: async () => response, ...options })
}

describe('the body of a response', () => {
  it.each<[string, Partial<AttachOptions>]>([
    ['without isTokenRejected', {}],
    ['if isTokenRejected does not decide', { isTokenRejected: () => undefined }],
  ])('is read only if it is a JSON error: %s', async (_name, options) => {
    const attacher = start(options)
    const fault = { detail: { errorcode: 'x.access_token_expired' } }
    const readBody = vi.fn(() => JSON.stringify({ fault }))
    for (const response of [
      { status: 200, headers: json },
      { status: 500, headers: { 'content-type': 'text/event-stream' } },
      { status: 500, headers: {} },
    ]) {
      await sendThrough(attacher, get(api), [{ ...response, readBody }])
    }
    expect(readBody).not.toHaveBeenCalled()
    const response = { status: 500, headers: json, readBody }
    expect((await sendThrough(attacher, get(api), [response, fine])).sent).toHaveLength(2)
    expect(readBody).toHaveBeenCalledOnce()
  })

  it.each([
    ['nothing is read', { readBody: () => Promise.resolve(undefined) }],
    ['there is no way to read it', {}],
  ])('is not needed if %s', async (_name, body) => {
    const response = { status: 401, headers: json, ...body }
    const { sent } = await sendThrough(start(), get(api), [response, fine])
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('is read for isTokenRejected even if a character arrives in two parts', async () => {
    const read: unknown[] = []
    const bytes = new TextEncoder().encode('Zugriff abgelaufen für €')
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    await startFetch(new Response(body), {
      isTokenRejected: async ({ readBody }) => void read.push(await readBody?.()),
    })(api)
    expect(read).toEqual(['Zugriff abgelaufen für €'])
  })

  it.each<[string, () => Promise<Response>]>([
    ['the response has none', async () => new Response(null)],
    [
      'it has been read',
      async () => {
        const response = new Response('read by a wrapper of fetch')
        await response.text()
        return response
      },
    ],
  ])('is undefined for isTokenRejected if %s', async (_name, respond) => {
    const read: unknown[] = []
    const { status } = await startFetch(await respond(), {
      isTokenRejected: async ({ readBody }) => void read.push(await readBody?.()),
    })(api)
    expect({ status, read }).toEqual({ status: 200, read: [undefined] })
  })

  it('is read for isTokenRejected up to 16 KiB', async () => {
    const read: unknown[] = []
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1_024))
    const response = new Response(new ReadableStream({ pull }))
    await startFetch(response, {
      isTokenRejected: async ({ readBody }) => void read.push((await readBody?.())?.length),
    })(api)
    expect(read).toEqual([16 * 1_024])
    await response.body?.cancel()
  })
})

it.each([
  ['GET', 2],
  ['HEAD', 2],
  // A redirect may have turned it into a GET, to which the response belongs.
  ['POST', 1],
])('a %s that a page has redirected is sent %i times if its token was rejected', async (method, times) => {
  const fetch = vi.fn(async () => {
    const response = new Response('', { status: 401 })
    return Object.defineProperty(response, 'redirected', { value: true })
  })
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  vi.stubGlobal('window', { document: {} })
  onTestFinished(() => void vi.unstubAllGlobals())
  await createTokenFetch(tokens, { allowedOrigins: [api], fetch })(api, { method })
  expect(fetch).toHaveBeenCalledTimes(times)
})
