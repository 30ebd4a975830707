import { createTokenFetch } from '@tokenwell/core'
import { describe, expect, it, vi } from 'vitest'
import { revoke, start } from './protected-api.ts'

describe('a rejected request', () => {
  const repeatable: [string, () => BodyInit | null | undefined][] = [
    ['no body', () => undefined],
    ['null', () => null],
    ['text', () => 'body'],
    ['parameters', () => new URLSearchParams({ body: 'body' })],
    ['bytes', () => new TextEncoder().encode('body')],
    ['a buffer', () => new TextEncoder().encode('body').buffer],
    ['a blob', () => new Blob(['body'])],
  ]
  it.each(repeatable)('with %s is sent once more with a new token', async (_name, body) => {
    const started = await start()
    const { api, issuer, seen, tokenFetch } = started
    await revoke(started)
    const response = await tokenFetch(api, { method: 'POST', body: body() ?? null })
    expect([response.status, await response.text()]).toEqual([200, 'status 200'])
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(seen[1]!.body).toBe(seen[0]!.body)
    expect(issuer.requests).toBe(2)
  })

  it('with a form is sent once more, files included', async () => {
    const started = await start()
    await revoke(started)
    const form = new FormData()
    form.set('file', new Blob(['contents']), 'file.txt')
    expect((await started.tokenFetch(started.api, { method: 'POST', body: form })).status).toBe(200)
    expect(started.seen).toHaveLength(2)
    for (const { body } of started.seen) expect(body).toContain('contents')
  })

  it.each<[string, (api: string) => URL | Request]>([
    ['a URL object', (api) => new URL(api)],
    ['a POST Request without a body', (api) => new Request(api, { method: 'POST' })],
  ])('that is %s is sent once more', async (_name, input) => {
    const started = await start()
    await revoke(started)
    expect((await started.tokenFetch(input(started.api))).status).toBe(200)
    expect(started.seen).toHaveLength(2)
  })

  it.each<[string, (api: string) => Parameters<typeof fetch>]>([
    ['a stream', (api) => [api, streaming()]],
    [
      'an iterator',
      (api) => [api, { method: 'POST', body: chunks() as never, duplex: 'half' } as RequestInit],
    ],
  ])(
    'with %s is not sent again: the caller gets the complete 401, and the next call a new token',
    async (_name, call) => {
      const started = await start()
      const { api, seen, tokenFetch } = started
      await revoke(started)
      const response = await tokenFetch(...call(api))
      expect([response.status, await response.text()]).toEqual([401, 'status 401'])
      expect(seen).toHaveLength(1)
      expect((await tokenFetch(...call(api))).status).toBe(200)
      expect(seen[1]!.headers.authorization).toBe('Bearer token-2')
    },
  )

  it.each([
    ['is cancelled', () => {}],
    [
      'may fail to be cancelled',
      () => {
        throw new Error('canary')
      },
    ],
  ])('has a response whose body %s', async (_name, whenCancelled) => {
    const { api, tokens } = await start()
    const cancel = vi.fn(whenCancelled)
    const responses = [
      new Response(new ReadableStream({ cancel }), { status: 401 }),
      new Response('accepted'),
    ]
    const fetch = () => Promise.resolve(responses.shift()!)
    const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], fetch })
    expect(await (await tokenFetch(api)).text()).toBe('accepted')
    expect(cancel).toHaveBeenCalledOnce()
  })

  it('is not sent a third time', async () => {
    const { api, issuer, seen, tokenFetch } = await start({}, (_request, response) => {
      response.statusCode = 401
      response.end('no')
    })
    const response = await tokenFetch(api)
    expect([response.status, await response.text()]).toEqual([401, 'no'])
    expect(seen).toHaveLength(2)
    expect(issuer.requests).toBe(2)
  })

  it('is not repeated with `retryOnRejection: false`', async () => {
    const started = await start({ retryOnRejection: false })
    await revoke(started)
    expect((await started.tokenFetch(started.api)).status).toBe(401)
    expect(started.seen).toHaveLength(1)
    expect((await started.tokenFetch(started.api)).status).toBe(200)
  })

  it('fails with the error of the token service, and the response of the API as its cause, if there is no new token', async () => {
    const started = await start()
    await revoke(started)
    started.issuer.broken = true
    const error: unknown = await started.tokenFetch(started.api).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TokenError', cause: { status: 401 } })
    expect(await ((error as Error).cause as Response).text()).toBe('status 401')
    expect(started.issuer.requests).toBe(2)
  })

  it('because of a missing scope is returned to the caller without a token request', async () => {
    const { api, issuer, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' })
      response.end()
    })
    expect((await tokenFetch(api)).status).toBe(403)
    expect(issuer.requests).toBe(1)
  })

  it('is recognised with status 400, the first one of errors', async () => {
    const detail = { errorcode: 'keymanagement.service.invalid_access_token' }
    const responses = [Response.json({ fault: { detail } }, { status: 400 }), new Response()]
    const { api, tokenFetch } = await start({ fetch: async () => responses.shift()! })
    expect((await tokenFetch(api)).status).toBe(200)
  })

  it('is recognised by a gateway fault in its body with any status, and the body remains readable', async () => {
    const fault = (errorcode: string): string =>
      JSON.stringify({ fault: { detail: { errorcode } }, filler: 'x'.repeat(100_000) })
    let responses = 0
    const { api, seen, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      const code =
        ++responses === 1 ? 'keymanagement.service.access_token_expired' : 'policies.ratelimit.QuotaViolation'
      response.end(
        responses === 1
          ? fault(code)
              .slice(0, 200)
              .replace(/,"filler.*$/, '}')
          : fault(code),
      )
    })
    const response = await tokenFetch(api)
    expect(response.status).toBe(500)
    expect(await response.text()).toBe(fault('policies.ratelimit.QuotaViolation'))
    expect(seen).toHaveLength(2)
  })

  it('has a response that is read up to 16 KiB if its body does not end', async () => {
    const { api, tokens } = await start()
    let sent = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      sent += 1_024
      controller.enqueue(new Uint8Array(1_024).fill(32))
    }
    const headers = { 'content-type': 'application/json' }
    const fetch = async () => new Response(new ReadableStream({ pull }), { status: 500, headers })
    const response = await createTokenFetch(tokens, { allowedOrigins: [api], fetch })(api)
    expect(response.status).toBe(500)
    // What a stream reads ahead is not counted.
    expect(sent).toBeGreaterThanOrEqual(16 * 1_024)
    expect(sent).toBeLessThan(20 * 1_024)
    await response.body?.cancel()
  })

  it('has a response that is not read if it streams events', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
    })
    const response = await tokenFetch(api)
    const { value } = await response.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('data: first\n\n')
  })

  it('is classified without a body that it does not have', async () => {
    const headers = { 'content-type': 'application/json' }
    const responses = [new Response(null, { status: 401, headers }), new Response()]
    const { api, tokenFetch } = await start({ fetch: async () => responses.shift()! })
    expect((await tokenFetch(api, { method: 'HEAD' })).status).toBe(200)
  })

  it('is classified without its body if a library has no web stream for it', async () => {
    const responses = [Response.json({}, { status: 401 }), new Response()]
    const clone = () => ({ body: {} })
    Object.defineProperties(responses[0]!, { clone: { value: clone }, body: { value: {} } })
    const { api, tokenFetch } = await start({ fetch: async () => responses.shift()! })
    expect((await tokenFetch(api)).status).toBe(200)
  })

  it('is classified without its body if the body stalls', async () => {
    let responses = 0
    const { api, seen, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(++responses === 1 ? 401 : 200, { 'content-type': 'application/json' })
      if (responses === 1) response.write('{"fault":')
      else response.end('{}')
    })
    expect((await tokenFetch(api)).status).toBe(200)
    expect(seen).toHaveLength(2)
  })

  it('can be aborted by the caller while the body stalls', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.write('{"fault":')
    })
    const call = tokenFetch(api, { signal: AbortSignal.timeout(200) })
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

function streaming(): RequestInit {
  return { method: 'POST', body: new Blob(['body']).stream(), duplex: 'half' } as RequestInit
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('body')
}
