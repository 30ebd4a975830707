import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { startProtectedApi, type ProtectedApi } from '@tokenwell/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'

let api: ProtectedApi
beforeEach(async () => void (api = await startProtectedApi()))
afterEach(() => api.close())

it('runs the example in the README', async () => {
  const { apiFetch } = await runReadmeExample(new URL('../', import.meta.url), { API_URL: api.origin })
  await (apiFetch as typeof fetch)(api.origin)
  expect(api.tokens).toStrictEqual(['abc'])
})
