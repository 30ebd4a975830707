import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenProvider } from '@tokenwell/core'
import { json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import axios, { create, type AxiosAdapter, type AxiosInstance, type AxiosRequestConfig } from 'axios'
import { getEventListeners } from 'node:events'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

// oxlint-disable-next-line import/no-named-as-default-member -- axios's types do not name this export
const { CancelToken } = axios
const servers = useTestServers()
let api: AxiosInstance
beforeEach(() => {
  api = create({ baseURL: servers.api.origin })
  attachTokens(api, servers.tokens)
})

describe.each(['signal', 'cancelToken'])('a %s that many requests share', (kind) => {
  const share = () => {
    const controller = new AbortController()
    const source = CancelToken.source()
    const listeners = () =>
      kind === 'signal'
        ? getEventListeners(controller.signal, 'abort').length
        : ((source.token as unknown as { _listeners?: unknown[] })._listeners ?? []).length
    const config: AxiosRequestConfig =
      kind === 'signal' ? { signal: controller.signal } : { cancelToken: source.token }
    return { config, listeners, cancel: () => (kind === 'signal' ? controller.abort() : source.cancel()) }
  }

  it.each([200, 401, 404])('keeps no listener of a request after status %i', async (status) => {
    const { config, listeners } = share()
    servers.api.respond = () => json({}, status)
    // With and without a timeout, first without a cached token and then with one.
    for (const timeout of [undefined, 5_000]) {
      await api.get('/', { ...config, ...(timeout && { timeout }), validateStatus: null })
      await api.get('/', { ...config, ...(timeout && { timeout }), validateStatus: null })
    }
    expect(listeners()).toBe(0)
  })

  it('keeps no listener of a request that got no token', async () => {
    const { config, listeners } = share()
    servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
    await expect(api.get('/', config)).rejects.toThrow()
    servers.endpoint.respond = () => noResponse
    await expect(api.get('/', { ...config, timeout: 20 })).rejects.toThrow()
    expect(listeners()).toBe(0)
  })

  it('ends the wait for the token that replaces a rejected one', async () => {
    const { config, listeners, cancel } = share()
    await api.get('/')
    servers.api.rejects = () => true
    servers.endpoint.respond = () => noResponse
    const request = api.get('/', config)
    await servers.endpoint.nextRequest()
    cancel()
    await expect(request).rejects.toMatchObject({ code: 'ERR_CANCELED' })
    expect(listeners()).toBe(0)
  })
})

it('ends the wait for a new token if the check of the response cancels the request', async () => {
  const controller = new AbortController()
  const checking = create({ baseURL: servers.api.origin })
  const isTokenRejected = () => {
    controller.abort()
    return true
  }
  attachTokens(checking, servers.tokens, { isTokenRejected })
  await servers.tokens.getToken()
  servers.endpoint.respond = () => noResponse
  await expect(checking.get('/', { signal: controller.signal })).rejects.toMatchObject({
    code: 'ERR_CANCELED',
  })
})

it('leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  // Without sockets, whose timers are Node's.
  let issued = 0
  const tokens = createTokenProvider({
    cacheKey: async () => '',
    requestToken: async () => ({
      accessToken: `token-${++issued}`,
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: [],
    }),
  })
  const adapter: AxiosAdapter = async (config) => ({
    data: '',
    status: 200,
    statusText: '',
    headers: {},
    config,
  })
  const unconnected = create({ baseURL: 'https://api.example.com', adapter })
  attachTokens(unconnected, tokens)
  await unconnected.get('/', { timeout: 60_000 })
  expect(issued).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})
