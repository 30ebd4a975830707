import { describe, expect, it, vi } from 'vitest'
import {
  createTokenAttacher,
  createTokenProvider,
  type ApiResponse,
  type AttachOptions,
  type TokenEvent,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from './fake-time.ts'
import { ScriptedEndpoint, sourceOf, wrongSecret, type Script } from './scripted-endpoint.ts'

useFakeTime()

const api = 'https://api.example.com'

function start(script: Script = {}, options: Partial<AttachOptions> = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(sourceOf(endpoint), { onEvent: (event) => events.push(event) })
  return {
    endpoint,
    events,
    tokens,
    attacher: createTokenAttacher(tokens, { allowedOrigins: [api], ...options }),
  }
}

const refusal: ApiResponse = { status: 401, headers: {} }
const json = { 'content-type': 'application/json; charset=utf-8' }

describe('attaching', () => {
  it('gives the header to set', async () => {
    const { attacher } = start()
    const attachment = await attacher.attach(`${api}/orders`)
    expect(attachment).toMatchObject({
      header: 'Authorization',
      value: 'Bearer token-1',
      token: { value: 'token-1' },
    })
  })

  it.each<[Partial<AttachOptions>, string, string]>([
    [{ scheme: '' }, 'Authorization', 'token-1'],
    [{ scheme: 'Token' }, 'Authorization', 'Token token-1'],
    [{ header: 'X-Access-Token', scheme: '' }, 'X-Access-Token', 'token-1'],
    [{ header: undefined, scheme: undefined }, 'Authorization', 'Bearer token-1'],
  ])('with %j', async (options, header, value) => {
    const { attacher } = start({}, options)
    expect(await attacher.attach(api)).toMatchObject({ header, value })
    expect(attacher.header).toBe(header)
  })

  it('lets redirects be followed for Authorization only, which clients drop on the way to another origin', () => {
    expect(start().attacher.followsRedirects).toBe(true)
    expect(start({}, { header: 'AUTHORIZATION' }).attacher.followsRedirects).toBe(true)
    expect(start({}, { header: 'X-Token' }).attacher.followsRedirects).toBe(false)
  })

  it('withholds the token from other origins, asks for none, and says so', async () => {
    const { attacher, endpoint, events } = start()
    expect(await attacher.attach('https://evil.example.com/path?secret=canary')).toBeUndefined()
    expect(await attacher.attach(new URL('http://api.example.com'))).toBeUndefined()
    expect(await attacher.attach('not a url')).toBeUndefined()
    expect(endpoint.requests).toHaveLength(0)
    expect(events).toEqual([
      { type: 'token_withheld', origin: 'https://evil.example.com' },
      { type: 'token_withheld', origin: 'http://api.example.com' },
      { type: 'token_withheld', origin: 'null' },
    ])
  })

  it('fails the request when there is no token to be had', async () => {
    await expect(start(wrongSecret).attacher.attach(api)).rejects.toMatchObject({ kind: 'credentials' })
  })

  it('hands the caller’s signal on', async () => {
    const { attacher } = start()
    await expect(attacher.attach(api, AbortSignal.abort('enough'))).rejects.toBe('enough')
    await expect(attacher.attach(api, null)).resolves.toBeDefined()
  })

  it('asks for the caller’s signal only where there is something to wait for', async () => {
    const { attacher } = start({ latencyMs: 100 })
    const controller = new AbortController()
    const signal = vi.fn(() => controller.signal)
    const call = watch(Promise.resolve(attacher.attach(api, signal)))
    await pass(100)
    expect(call.state).toBe('resolved')
    expect(signal).toHaveBeenCalledOnce()
    expect(attacher.attach(api, signal)).toMatchObject({ value: 'Bearer token-1' })
    expect(signal).toHaveBeenCalledOnce()
    const aborted = start({ latencyMs: 100 }).attacher.attach(api, () => AbortSignal.abort('enough'))
    await expect(aborted).rejects.toBe('enough')
  })

  it('works over a provider that somebody else wrote', async () => {
    const { tokens } = start()
    const { attacher: other } = start()
    const attacher = createTokenAttacher(
      {
        getToken: (options) => tokens.getToken(options),
        peekToken: () => tokens.peekToken(),
        reject: (token) => tokens.reject(token),
        on: (listener) => tokens.on(listener),
        close: () => tokens.close(),
        [Symbol.asyncDispose]: () => tokens.close(),
      },
      { allowedOrigins: [api] },
    )
    expect(await attacher.attach(api)).toEqual(await other.attach(api))
    expect(await attacher.attach('https://evil.example.com')).toBeUndefined()
  })

  it.each([
    [{ header: '' }, 'header'],
    [{ header: 'X Token' }, 'header'],
    [{ header: 'X-Token\r\n' }, 'header'],
    [{ header: 'X-Tökén' }, 'header'],
    [{ scheme: 'Bearer ' }, 'scheme'],
    [{ scheme: 'a b' }, 'scheme'],
    [{ scheme: '\n' }, 'scheme'],
    [{ allowedOrigins: [] }, 'allowedOrigins'],
    [{ allowedOrigins: undefined }, 'allowedOrigins'],
    [{ allowedOrigins: api }, 'allowedOrigins'],
  ])('is not set up with %j', (options, name) => {
    expect(() => start({}, options as never)).toThrow(
      expect.objectContaining({ kind: 'configuration', message: expect.stringContaining(name) as string }),
    )
  })
})

describe('after an answer', () => {
  it('gives a new token once for a refused one', async () => {
    const { attacher, endpoint } = start()
    const attachment = (await attacher.attach(api))!
    expect(await attacher.reattach(attachment, refusal, true)).toMatchObject({ value: 'Bearer token-2' })
    expect(endpoint.requests).toHaveLength(2)
  })

  it.each([200, 204, 304, 400, 403, 404, 429, 500])(
    'with status %d leaves it to the caller',
    async (status) => {
      const { attacher, tokens } = start()
      const attachment = (await attacher.attach(api))!
      expect(await attacher.reattach(attachment, { ...refusal, status }, true)).toBeUndefined()
      expect(tokens.peekToken()).toBe(attachment.token)
    },
  )

  it('leaves it to the caller where the request cannot be sent again, but renews for the next', async () => {
    const { attacher, endpoint, tokens } = start()
    const attachment = (await attacher.attach(api))!
    expect(await attacher.reattach(attachment, refusal, false)).toBeUndefined()
    expect(tokens.peekToken()).toBeUndefined()
    expect(endpoint.requests).toHaveLength(1)
  })

  it('leaves it to the caller where repetition is turned off', async () => {
    const { attacher, tokens } = start({}, { retryOnRejection: false })
    const attachment = (await attacher.attach(api))!
    expect(await attacher.reattach(attachment, refusal, true)).toBeUndefined()
    expect(tokens.peekToken()).toBeUndefined()
  })

  it('leaves it to the caller where no new token is to be had', async () => {
    const { attacher } = start((request) => (request === 1 ? {} : wrongSecret))
    const attachment = (await attacher.attach(api))!
    expect(await attacher.reattach(attachment, refusal, true)).toBeUndefined()
  })

  it('leaves it to the caller where the server gives the same token again', async () => {
    const { attacher } = start({ body: { access_token: 'same', token_type: 'Bearer', expires_in: 60 } })
    const attachment = (await attacher.attach(api))!
    expect(await attacher.reattach(attachment, refusal, true)).toBeUndefined()
  })

  it('leaves it to the caller once refusals have used up their budget', async () => {
    const { attacher, endpoint } = start()
    const repeated: boolean[] = []
    for (let call = 0; call < 30; call++) {
      const attachment = (await attacher.attach(api))!
      repeated.push((await attacher.reattach(attachment, refusal, true)) !== undefined)
    }
    expect(repeated).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(10).fill(false)])
    expect(endpoint.requests).toHaveLength(21)
  })

  it('takes the token that came meanwhile for one that was refused late', async () => {
    const { attacher, endpoint } = start()
    const late = (await attacher.attach(api))!
    const early = (await attacher.attach(api))!
    await attacher.reattach(early, refusal, true)
    expect(await attacher.reattach(late, refusal, true)).toMatchObject({ value: 'Bearer token-2' })
    expect(endpoint.requests).toHaveLength(2)
  })

  it('throws the caller’s reason when it left meanwhile', async () => {
    const { attacher } = start((request) => ({ latencyMs: request === 1 ? 0 : 1_000 }))
    const attachment = (await attacher.attach(api))!
    const controller = new AbortController()
    const call = watch(attacher.reattach(attachment, refusal, true, controller.signal))
    await pass(500)
    controller.abort('enough')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'enough' })
  })

  it('reads the body of JSON alone, and of failures alone', async () => {
    const { attacher } = start()
    const attachment = (await attacher.attach(api))!
    const readBody = vi.fn(() =>
      JSON.stringify({ fault: { detail: { errorcode: 'x.access_token_expired' } } }),
    )
    await attacher.reattach(attachment, { status: 200, headers: json, readBody }, true)
    await attacher.reattach(
      attachment,
      { status: 500, headers: { 'content-type': 'text/event-stream' }, readBody },
      true,
    )
    await attacher.reattach(attachment, { status: 500, headers: {}, readBody }, true)
    expect(readBody).not.toHaveBeenCalled()
    expect(await attacher.reattach(attachment, { status: 500, headers: json, readBody }, true)).toBeDefined()
    expect(readBody).toHaveBeenCalledOnce()
  })

  it('goes without a body that cannot be read', async () => {
    const { attacher } = start()
    const attachment = (await attacher.attach(api))!
    const answer = { status: 401, headers: json, readBody: () => Promise.resolve(undefined) }
    expect(await attacher.reattach(attachment, answer, true)).toMatchObject({ value: 'Bearer token-2' })
  })

  it('that came from another origin in the end says nothing about the token, which was not sent there', async () => {
    const { attacher, tokens } = start()
    const attachment = (await attacher.attach(api))!
    expect(
      await attacher.reattach(attachment, { ...refusal, url: 'https://cdn.example.net/x' }, true),
    ).toBeUndefined()
    expect(tokens.peekToken()).toBe(attachment.token)
    expect(await attacher.reattach(attachment, { ...refusal, url: `${api}/moved` }, true)).toBeDefined()
  })
})
