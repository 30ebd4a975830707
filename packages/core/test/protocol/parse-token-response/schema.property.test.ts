import { expect, it } from 'vitest'
import { backendTokens } from '@tokenwell/core'
import { parseTokenResponse, tokenResponseSchema } from '@tokenwell/core/protocol'
import responses from '../responses.json' with { type: 'json' }
import { randomResponse } from './random-response.ts'

/** What the schema makes of a JSON object; undefined if it rejects it. */
function validated(body: string): unknown {
  const result = tokenResponseSchema['~standard'].validate(JSON.parse(body))
  return result.issues ? undefined : result.value
}

/** What the parser makes of it, without the response as received. */
function parsed(body: string): unknown {
  try {
    const { raw: _raw, ...response } = parseTokenResponse(200, {}, body)
    return response
  } catch {
    return undefined
  }
}

/** Objects without an error, and without a member that the parser takes out before anything else reads it. */
function isComparable(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const names = Object.keys(value)
    return ['error', 'Error', 'ErrorCode', 'fault', '__proto__'].every((name) => !names.includes(name))
  } catch {
    return false
  }
}

it('the parser and the schema read every response of the contract alike', () => {
  const bodies = responses.tokenSuccess.map(({ body }) => body)
  expect(bodies.filter((body) => validated(body) === undefined)).toEqual([])
  for (const body of bodies) expect(parsed(body)).toEqual(validated(body))
})

it('the parser and the schema read 10,000 random responses alike', () => {
  let accepted = 0
  let compared = 0
  for (let seed = 0; compared < 10_000; seed++) {
    const { body } = randomResponse(seed)
    if (!isComparable(body)) continue
    compared++
    const response = validated(body)
    if (response) accepted++
    expect(parsed(body), body).toEqual(response)
  }
  // The comparison says something about both kinds.
  expect(accepted).toBeGreaterThan(1_000)
  expect(compared - accepted).toBeGreaterThan(1_000)
})

it('a page reads the whole response of its backend as the schema does', async () => {
  for (const { body } of responses.tokenSuccess) {
    const fetch = async () => new Response(body)
    const { response } = await backendTokens({ url: 'https://app.example.com/token', fetch }).getToken()
    const { accessToken, ...others } = validated(body) as { readonly accessToken: string }
    expect(response).toMatchObject({ accessToken, ...others })
  }
})
