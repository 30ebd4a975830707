import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createTokenFetch } from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { revoke, start } from './protected-api.ts'

afterEach(() => void vi.unstubAllGlobals())

describe('a rejected request', () => {
  it('with a Request larger than 1 MiB is not sent again: the caller gets the complete 401', async () => {
    const started = await start()
    await revoke(started)
    const body = 'x'.repeat(1024 * 1024 + 1)
    const response = await started.tokenFetch(new Request(started.api, { method: 'POST', body }))
    expect([response.status, await response.text()]).toEqual([401, 'status 401'])
    expect(started.seen.map((request) => request.body.length)).toEqual([body.length])
    await expect.poll(async () => (await started.tokenFetch(started.api)).status).toBe(200)
  })

  it('with a Request of 1 MiB is sent once more', async () => {
    const started = await start()
    await revoke(started)
    const body = 'x'.repeat(1024 * 1024)
    const response = await started.tokenFetch(new Request(started.api, { method: 'POST', body }))
    expect(response.status).toBe(200)
  })

  it('with a Request is first sent as it is, because browsers send a stream only over HTTP/2', async () => {
    const fetch = vi.fn(async () => new Response())
    const { api, tokenFetch } = await start({ fetch })
    const request = new Request(api, { method: 'POST', body: 'body' })
    await tokenFetch(request)
    expect(fetch).toHaveBeenCalledWith(request, expect.not.objectContaining({ body: expect.anything() }))
  })

  it('with a Request is repeated with the same bytes even if the first attempt changed them', async () => {
    const bodies: unknown[] = []
    const { api, tokenFetch } = await start({
      async fetch(input, init) {
        if (bodies.push(init?.body) > 1) return new Response()
        for await (const chunk of (input as Request).body!) {
          // The copy has been made by then.
          await new Promise((resolve) => setTimeout(resolve))
          chunk.fill(0)
        }
        return new Response('', { status: 401 })
      },
    })
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('body'))
        controller.close()
      },
    })
    const request = new Request(api, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
    expect((await tokenFetch(request)).status).toBe(200)
    expect(new TextDecoder().decode(bodies[1] as Uint8Array)).toBe('body')
  })

  it('with a Request is not sent again before its whole body has been read', async () => {
    const fetch = vi.fn(async () => new Response('', { status: 401 }))
    const { api, tokenFetch } = await start({ fetch })
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([1])) })
    const request = new Request(api, { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect((await tokenFetch(request)).status).toBe(401)
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('with a Request is sent once more if the response arrives before the end of the body', async () => {
    let end = () => {}
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('body'))
        end = () => controller.close()
      },
    })
    const bodies: unknown[] = []
    const { api, tokenFetch } = await start({
      async fetch(_input, init) {
        if (bodies.push(init?.body) > 1) return new Response('accepted')
        setTimeout(end)
        return new Response('', { status: 401 })
      },
    })
    const request = new Request(api, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
    expect((await tokenFetch(request)).status).toBe(200)
    expect(new TextDecoder().decode(bodies[1] as Uint8Array)).toBe('body')
  })

  it('with a Request whose body is too large is not waited for until the end of the body', async () => {
    // A second would never pass.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const fetch = async () => new Response('', { status: 401 })
    const tokenFetch = createTokenFetch(createTestTokenProvider(), {
      allowedOrigins: ['https://api.example.com'],
      fetch,
    })
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(16 * 1024 * 1024 + 1)),
    })
    const request = new Request('https://api.example.com', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    expect((await tokenFetch(request)).status).toBe(401)
  })

  it.each<[string, (api: string) => Parameters<typeof fetch>]>([
    ['a Request with a body', (api) => [new Request(api, { method: 'POST', body: 'body' })]],
    ['a Request with a stream', (api) => [new Request(api, streaming())]],
    [
      'a Request beside `body: null`',
      (api) => [new Request(api, { method: 'POST', body: 'body' }), { body: null }],
    ],
    ['a Request as the options', (api) => [api, new Request(api, { method: 'POST', body: 'body' })]],
  ])('with the body of %s is sent once more, with the same bytes', async (_name, call) => {
    const started = await start()
    await revoke(started)
    expect((await started.tokenFetch(...call(started.api))).status).toBe(200)
    expect(started.seen).toHaveLength(2)
    expect(started.seen[1]!.body).toBe(started.seen[0]!.body)
    expect(started.seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })

  it('is not repeated for a Request of a browser without the body property', async () => {
    const started = await start()
    await revoke(started)
    const request = new Request(started.api, { method: 'POST', body: 'body' })
    Object.defineProperty(request, 'body', { value: undefined })
    const response = await started.tokenFetch(request)
    expect([response.status, await response.text()]).toEqual([401, 'status 401'])
  })

  it('with a Request is sent once more, with the same bytes, where Blob is not that of fetch, as in jsdom', async () => {
    vi.stubGlobal('Blob', vi.fn())
    const started = await start()
    await revoke(started)
    const response = await started.tokenFetch(new Request(started.api, { method: 'POST', body: 'body' }))
    expect(response.status).toBe(200)
    expect(started.seen.map(({ body }) => body)).toEqual(['body', 'body'])
  })

  it.each<[string, (request: Request, api: string) => Parameters<typeof fetch>]>([
    ['', (request) => [request]],
    [' as the options', (request, api) => [api, request]],
  ])('is not repeated for a Request%s whose body is a stream of Node', async (_name, call) => {
    const fetch = vi.fn(async () => new Response('', { status: 401 }))
    const { api, tokenFetch } = await start({ fetch })
    const request = new Request(api, { method: 'POST', body: 'body' })
    Object.defineProperty(request, 'body', { value: Readable.from(['body']), enumerable: true })
    expect((await tokenFetch(...call(request, api))).status).toBe(401)
    expect(fetch).toHaveBeenCalledOnce()
  })

  it.each(['GET', 'HEAD', 'get'])(
    'without a body is sent once more for a %s Request of a browser without the body property',
    async (method) => {
      const started = await start()
      await revoke(started)
      const request = new Request(started.api, { method })
      Object.defineProperty(request, 'body', { value: undefined })
      expect((await started.tokenFetch(request, { method })).status).toBe(200)
    },
  )
})

function streaming(): RequestInit {
  return { method: 'POST', body: new Blob(['body']).stream(), duplex: 'half' } as RequestInit
}

describe('a redirected Request', () => {
  const mebibyte = 1024 * 1024
  const redirecting = async (status: number) => {
    const arrived: string[] = []
    const server = createServer((request, response) => {
      let bytes = 0
      request.on('data', (chunk: Buffer) => (bytes += chunk.length))
      request.on('end', () => {
        arrived.push(`${request.method} ${request.url} ${bytes}`)
        if (request.url === '/from') response.writeHead(status, { location: '/to' })
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/from`
    const api = createTokenFetch(createTestTokenProvider(), { allowedOrigins: [new URL(url).origin] })
    return {
      arrived,
      send: (size: number, init?: RequestInit) =>
        api(new Request(url, { method: 'POST', body: 'x'.repeat(size) }), init),
    }
  }

  it.each([301, 302])(
    'is followed after a %i whatever its size, because it becomes a GET',
    async (status) => {
      const { arrived, send } = await redirecting(status)
      expect((await send(17 * mebibyte)).status).toBe(200)
      expect(arrived).toStrictEqual([`POST /from ${17 * mebibyte}`, 'GET /to 0'])
    },
  )

  it.each([307, 308])('keeps its body after a %i if the options have `body: null`', async (status) => {
    const { arrived, send } = await redirecting(status)
    expect((await send(7, { body: null })).status).toBe(200)
    expect(arrived).toStrictEqual(['POST /from 7', 'POST /to 7'])
  })

  it.each([307, 308])('is sent again after a %i up to 16 MiB', async (status) => {
    const { arrived, send } = await redirecting(status)
    const size = 16 * mebibyte
    expect((await send(size)).status).toBe(200)
    expect(arrived).toStrictEqual([`POST /from ${size}`, `POST /to ${size}`])
    await expect(send(size + 1)).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { message: expect.stringMatching(/its body is larger than 16 MiB/) },
    })
  })
})
