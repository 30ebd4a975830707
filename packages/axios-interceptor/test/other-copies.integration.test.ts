import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenProvider, TokenError } from '@tokenwell/core'
import { json, noResponse, startProtectedApi, startTokenEndpoint } from '@tokenwell/internal-testing'
import { AxiosError, create, type AxiosStatic } from 'axios'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'

const required = createRequire(import.meta.url)('axios') as AxiosStatic

it('throws errors of the copy of axios that the application required', async () => {
  expect(required.AxiosError).not.toBe(AxiosError)
  const [endpoint, api] = await Promise.all([startTokenEndpoint(), startProtectedApi()])
  const tokens = createTokenProvider(endpoint.source)
  const instance = required.create({ baseURL: api.origin })
  attachTokens(instance, tokens)
  const failure = (config = {}) => instance.get('/', config).catch((error: unknown) => error)

  expect((await instance.post('/', { a: 1 })).data).toStrictEqual({ accepted: true })
  api.rejects = () => true
  const rejected = (await failure()) as AxiosError
  expect(rejected).toBeInstanceOf(required.AxiosError)
  expect(rejected.response?.status).toBe(401)
  expect(rejected.toJSON()).toMatchObject({ status: 401 })
  api.respond = () => noResponse
  expect(await failure({ timeout: 20 })).toBeInstanceOf(required.AxiosError)
  expect(required.isCancel(await failure({ signal: AbortSignal.timeout(20) }))).toBe(true)
  await tokens.getToken({ forceRefresh: true }).catch(() => {})
  endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  tokens.reset()
  const missing = (await failure()) as AxiosError
  expect(missing).toBeInstanceOf(required.AxiosError)
  expect(missing.cause).toBeInstanceOf(TokenError)
  await Promise.all([endpoint.close(), api.close(), tokens.close()])
})

it('throws errors of its own copy of axios if the instance throws none', async () => {
  const endpoint = await startTokenEndpoint()
  const tokens = createTokenProvider(endpoint.source)
  endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  const instance = create({ baseURL: 'https://api.example.com' })
  const getUri = () => {
    throw new TypeError('Invalid URL')
  }
  attachTokens({ defaults: instance.defaults, interceptors: instance.interceptors, getUri }, tokens)
  const error: unknown = await instance.get('/').catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AxiosError)
  expect(error).toMatchObject({ code: 'ERR_TOKEN', cause: { kind: 'credentials' } })
  await Promise.all([endpoint.close(), tokens.close()])
})
