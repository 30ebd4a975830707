import { createTokenFetch, createTokenProvider, type TokenFetchInit } from '@tokenwell/core'
import { expect, it } from 'vitest'
import { ScriptedEndpoint, sourceOf } from '../../support/scripted-endpoint.ts'

const api = 'https://api.example.com'

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
