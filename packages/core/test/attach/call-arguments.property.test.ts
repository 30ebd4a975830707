import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTokenFetch, createTokenProvider, type TokenFetch } from '@tokenwell/core'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

type TokenFetchInit = NonNullable<Parameters<TokenFetch>[1]>

useFakeTime()

const api = 'https://api.example.com'

interface Received {
  readonly url: string
  readonly method: string
  readonly marker: string | null
  readonly authorization: string | null
  readonly body: string
}

/** Reads a request as a server does, at the moment when `fetch` is called. */
async function receive(input: string | URL | Request, init?: RequestInit): Promise<Received> {
  const request = new Request(input, init)
  return {
    url: request.url,
    method: request.method,
    marker: request.headers.get('x-marker'),
    authorization: request.headers.get('authorization'),
    body: await request.text(),
  }
}

const call = fc.record({
  form: fc.constantFrom('string', 'url', 'request', 'request-as-init'),
  method: fc.constantFrom('POST', undefined),
  headers: fc.constantFrom('record', 'headers', 'pairs'),
  body: fc.constantFrom('none', 'text', 'bytes', 'buffer', 'parameters', 'form'),
  init: fc.constantFrom('plain', 'getters', 'prototype'),
  rejected: fc.boolean(),
  cold: fc.boolean(),
  mutateAfterMs: fc.constantFrom(0, 5, 15, 25),
})

describe('createTokenFetch', () => {
  it('sends what was passed at the call, and tokens only to allowed origins', async () => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), async (calls) => {
        const received: Received[] = []
        const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint({ latencyMs: 10 })))
        const reject = new Set<string>()
        const tokenFetch = createTokenFetch(tokens, {
          allowedOrigins: [api],
          fetch: async (input, init) => {
            const request = receive(input, init)
            await new Promise((resolve) => setTimeout(resolve, 10))
            received.push(await request)
            const { marker } = received.at(-1)!
            return new Response(null, { status: reject.delete(String(marker)) ? 401 : 200 })
          },
        })
        const expected: Omit<Received, 'authorization'>[] = []
        const responses: Promise<Response>[] = []
        for (const plan of calls) {
          if (plan.cold) tokens.reset()
          else if (!tokens.peekToken()) {
            const warm = tokens.getToken()
            await pass(10)
            await warm
          }
          const marker = `call-${number++}`
          if (plan.rejected) reject.add(marker)
          const { args, mutate, method, body } = build(plan, marker)
          expected.push({ url: `${api}/${marker}`, method, marker, body })
          responses.push(tokenFetch(...args))
          setTimeout(mutate, plan.mutateAfterMs)
        }
        await pass(200)
        for (const response of responses) expect((await response).status).toBe(200)
        for (const request of received) {
          expect(new URL(request.url).origin).toBe(api)
          expect(request.authorization).toMatch(/^Bearer token-\d+$/)
          const { authorization: _, body, ...rest } = request
          const { body: expectedBody, ...expectedRest } = expected.find(
            ({ marker }) => marker === request.marker,
          )!
          expect(rest).toEqual(expectedRest)
          // The boundary of a form differs each time.
          if (expectedBody !== 'form') expect(body).toBe(expectedBody)
          else expect(body).toContain('original')
        }
        expect(received.length).toBe(calls.length + calls.filter(({ rejected }) => rejected).length)
      }),
      { numRuns: 500, seed: 20261122 },
    )
  })
})

function build(plan: typeof call extends fc.Arbitrary<infer Plan> ? Plan : never, marker: string) {
  const url = new URL(`${api}/${marker}`)
  const record: Record<string, string> = { 'x-marker': marker }
  const headers =
    plan.headers === 'record'
      ? record
      : plan.headers === 'headers'
        ? new Headers(record)
        : Object.entries(record)
  const bytes = new TextEncoder().encode('original')
  const parameters = new URLSearchParams({ value: 'original' })
  const form = new FormData()
  form.set('value', 'original')
  const bodies = { none: undefined, text: 'original', bytes, buffer: bytes.buffer, parameters, form }
  const body = bodies[plan.body]
  const texts: Partial<Record<typeof plan.body, string>> = {
    none: '',
    parameters: 'value=original',
    form: 'form',
  }
  const method = body === undefined ? plan.method : 'POST'
  const members: Record<string, unknown> = {
    ...(method && { method }),
    headers,
    ...(body !== undefined && { body }),
  }
  const init: TokenFetchInit =
    plan.init === 'plain'
      ? members
      : plan.init === 'prototype'
        ? Object.create(members)
        : Object.defineProperties(
            {},
            Object.fromEntries(
              Object.keys(members).map((name) => [name, { get: () => members[name], enumerable: true }]),
            ),
          )
  const request = (): Request => new Request(url, { method, headers, body } as RequestInit)
  const args: [string | URL | Request, TokenFetchInit?] =
    plan.form === 'string'
      ? [url.href, init]
      : plan.form === 'url'
        ? [url, init]
        : plan.form === 'request'
          ? [request()]
          : [url, request()]
  const mutate = (): void => {
    url.host = 'evil.example.net'
    members['method'] = 'DELETE'
    members['body'] = 'changed'
    record['x-marker'] = 'changed'
    if (headers instanceof Headers) headers.set('x-marker', 'changed')
    else if (Array.isArray(headers)) headers[0]![1] = 'changed'
    bytes.fill(0)
    parameters.set('value', 'changed')
    form.set('value', 'changed')
    if (args[0] instanceof Request) args[0].headers.set('x-marker', 'changed')
  }
  return { args, mutate, method: method ?? 'GET', body: texts[plan.body] ?? 'original' }
}

class Init {
  readonly #body = 'text'
  get method() {
    return 'PUT'
  }
  get body() {
    return this.#body
  }
}

it.each<[string, () => TokenFetchInit]>([
  ['getters of a class', () => new Init()],
  [
    'members that are not enumerable',
    () => Object.defineProperties({}, { method: { value: 'PUT' }, body: { value: 'text' } }),
  ],
  ['inherited members', () => Object.create({ method: 'PUT', body: 'text' }) as TokenFetchInit],
])('reads %s, for an allowed origin and another', async (_name, init) => {
  const sent: unknown[] = []
  const fetch = async (input: string | URL | Request, given?: RequestInit): Promise<Response> => {
    const request = new Request(input, given)
    sent.push([request.method, await request.text()])
    return new Response()
  }
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], fetch })
  for (const url of [api, api, 'https://other.example.com']) await tokenFetch(url, init())
  const expected = ['PUT', 'text']
  expect(sent).toEqual([expected, expected, expected])
})
