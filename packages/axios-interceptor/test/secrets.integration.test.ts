import { attachTokens } from '@tokenwell/axios-interceptor'
import { expectNoSecrets, json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'

const servers = useTestServers()
let api: AxiosInstance
beforeEach(() => {
  api = create({ baseURL: servers.api.origin })
  attachTokens(api, servers.tokens)
})
const expectHidden = (value: unknown) => {
  expect(servers.endpoint.issued).not.toHaveLength(0)
  expectNoSecrets(value, servers.endpoint.issued)
}

describe.each(['http', 'fetch'])('over %s', (adapter) => {
  it.each(['json', 'text', 'arraybuffer', 'stream'] as const)(
    'shows no token in a response as %s',
    async (responseType) => {
      const response = await api.get('/', { responseType, adapter })
      expectHidden(response)
      expectHidden(response.request)
      expectHidden(response.data)
      if (responseType === 'stream') for await (const _chunk of response.data) expectHidden(response)
    },
  )

  it('shows no token in an error with a stream as its body', async () => {
    servers.api.respond = () => json({}, 500)
    const error: unknown = await api
      .get('/', { responseType: 'stream', adapter })
      .catch((error: unknown) => error)
    expectHidden(error)
    expectHidden((error as { request: unknown }).request)
  })

  it('shows no token in an error while a stream is read', async () => {
    servers.api.respond = () => ({ body: 'x'.repeat(100_000) })
    const config = { responseType: 'stream', maxContentLength: 1_000, adapter } as const
    const read = async () => {
      for await (const _chunk of (await api.get('/', config)).data) continue
    }
    const error: unknown = await read().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(Error)
    expectHidden(error)
  })

  it('shows no token in the error of a failed transform', async () => {
    servers.api.respond = () => ({ body: '{' })
    const error: unknown = await api
      .get('/', { responseType: 'json', transitional: { silentJSONParsing: false }, adapter })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'SyntaxError' })
    expectHidden(error)
  })
})

it('shows no token in a compressed response', async () => {
  servers.api.respond = () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('packed') })
  const response = await api.get('/', { responseType: 'stream' })
  expectHidden(response)
  expect(Buffer.concat(await response.data.toArray()).toString()).toBe('packed')
})

it('keeps the request of a response accessible', async () => {
  const { request } = await api.get('/')
  expect(request.res.responseUrl).toBe(`${servers.api.origin}/`)
  expect(request.path).toBe('/')
})

it.each([
  [
    'throws',
    () => {
      throw new Error('No transport')
    },
  ],
  ['rejects with undefined', () => Promise.reject(undefined)], // oxlint-disable-line prefer-promise-reject-errors
])('an adapter that %s leaves no token in the configuration', async (_what, adapter) => {
  const seen: InternalAxiosRequestConfig[] = []
  const failing = (config: InternalAxiosRequestConfig): Promise<never> => {
    seen.push(config)
    return adapter()
  }
  await expect(api.get('/', { adapter: failing })).rejects.not.toBeInstanceOf(TypeError)
  expect(seen).toHaveLength(1)
  expectHidden(seen[0]!.headers)
  expectHidden({ ...seen[0] })
})
