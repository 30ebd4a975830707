import { createTokenProvider, type AttachOptions } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { describe, expect, it, vi } from 'vitest'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

const request = { method: 'GET', url: 'https://api.example.com' }
const json = { 'content-type': 'application/json; charset=utf-8' }

async function start(options: Partial<AttachOptions> = {}) {
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  const attacher = createTokenAttacher(tokens, { allowedOrigins: [request.url], ...options })
  return { attacher, attachment: await attacher.attach(request) }
}

describe('the body of a response', () => {
  it.each<[string, Partial<AttachOptions>]>([
    ['without isTokenRejected', {}],
    ['if isTokenRejected does not decide', { isTokenRejected: () => undefined }],
  ])('is read only if it is a JSON error: %s', async (_name, options) => {
    const { attacher, attachment } = await start(options)
    const fault = { detail: { errorcode: 'x.access_token_expired' } }
    const readBody = vi.fn(() => JSON.stringify({ fault }))
    for (const response of [
      { status: 200, headers: json },
      { status: 500, headers: { 'content-type': 'text/event-stream' } },
      { status: 500, headers: {} },
    ]) {
      await attacher.retryAttachment(request, attachment, { ...response, readBody }, true)
    }
    expect(readBody).not.toHaveBeenCalled()
    const response = { status: 500, headers: json, readBody }
    expect(await attacher.retryAttachment(request, attachment, response, true)).toBeDefined()
    expect(readBody).toHaveBeenCalledOnce()
  })

  it.each([
    ['nothing is read', { readBody: () => Promise.resolve(undefined) }],
    ['there is no way to read it', {}],
  ])('is not needed if %s', async (_name, body) => {
    const { attacher, attachment } = await start()
    const response = { status: 401, headers: json, ...body }
    expect(await attacher.retryAttachment(request, attachment, response, true)).toMatchObject({
      headers: { Authorization: 'Bearer token-2' },
    })
  })

  it('is read for isTokenRejected even if a character arrives in two parts', async () => {
    const read: unknown[] = []
    const { attacher, attachment } = await start({
      isTokenRejected: async ({ readBody }) => void read.push(await readBody?.()),
    })
    const bytes = new TextEncoder().encode('Zugriff abgelaufen für €')
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    await attacher.retryAttachment(request, attachment, new Response(body), true)
    expect(read).toEqual(['Zugriff abgelaufen für €'])
  })

  it('is read for isTokenRejected up to 16 KiB', async () => {
    const read: unknown[] = []
    const { attacher, attachment } = await start({
      isTokenRejected: async ({ readBody }) => void read.push((await readBody?.())?.length),
    })
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1_024))
    const response = new Response(new ReadableStream({ pull }))
    await attacher.retryAttachment(request, attachment, response, true)
    expect(read).toEqual([16 * 1_024])
    await response.body?.cancel()
  })
})
