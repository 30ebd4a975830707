import { afterAll, beforeAll, expect, test } from 'vitest'
import { formOf, sampleOf } from '../support/recordings.ts'
import { createSlowEngine, startTestApi, type TestApi } from '../support/test-api.ts'

let api: TestApi
const engine = createSlowEngine()
engine.finish()
beforeAll(async () => void (api = await startTestApi({ engine, introspectionCacheMs: 1 })))
afterAll(() => api[Symbol.asyncDispose]())

const { wav } = sampleOf('digits')

async function post(authorization: string) {
  const body = formOf({ wav, fields: { expected: 'digits' } })
  const response = await fetch(`${api.url}/v1/transcriptions`, {
    method: 'POST',
    headers: { authorization },
    body,
  })
  return [response.status, response.headers.get('www-authenticate')] as const
}

const invalid =
  'Bearer realm="speech", error="invalid_token", error_description="The access token is invalid or expired"'

test('accepts a token that covers the product, until it is revoked', async () => {
  const token = await api.tokenOf('one')
  expect(await post(`Bearer ${token}`)).toEqual([200, null])
  const body = new URLSearchParams({
    token,
    client_id: 'one',
    client_secret: 'the secret of one, which is long',
  })
  await fetch(`${api.tokenService.authUrl}/oauth/revoke`, { method: 'POST', body })
  await expect.poll(() => post(`Bearer ${token}`)).toEqual([401, invalid])
})

test.each([
  ['no token', '', [401, 'Bearer realm="speech"']],
  ['another scheme', 'Basic Zm9vOmJhcg==', [401, 'Bearer realm="speech"']],
  ['an unknown token', 'Bearer unknown-token-0123456789', [401, invalid]],
] as const)('rejects %s', async (_, authorization, expected) => {
  const before = engine.transcriptions.length
  expect(await post(authorization)).toEqual(expected)
  expect(engine.transcriptions.length).toBe(before)
})

test('rejects a token that does not cover the product', async () => {
  const [status, challenge] = await post(`Bearer ${await api.tokenOf('without-product')}`)
  expect([status, challenge]).toEqual([403, expect.stringContaining('error="insufficient_scope"')])
})

test('checks the token of every route, and none of its health and its description', async () => {
  const statuses = await Promise.all(
    ['GET', 'DELETE'].map(
      async (method) => (await fetch(`${api.url}/v1/transcriptions/x`, { method })).status,
    ),
  )
  expect(statuses).toEqual([401, 401])
  expect(await (await fetch(`${api.url}/healthz`)).json()).toEqual({ status: 'ok', engine: 'slow' })
  expect((await fetch(`${api.url}/openapi.json`)).status).toBe(200)
})
