import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenProvider } from '@tokenwell/core'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create } from 'axios'
import { describe, expect, it } from 'vitest'

const servers = useTestServers()

describe('a source that requests its tokens with the instance that attaches them', () => {
  it.each([{}, { timeout: 60_000 }])('does not wait for itself, with %j', async (config) => {
    const api = create({ baseURL: servers.api.origin, validateStatus: null, ...config })
    const own = createTokenProvider({
      cacheKey: async () => 'own',
      async requestToken({ signal }) {
        await api.post('/token', null, { signal })
        return { accessToken: 'own-token', tokenType: 'Bearer', expiresIn: 3600, scope: [] }
      },
    })
    attachTokens(api, own, { retryOnRejection: false })
    await api.get('/orders')
    expect(servers.api.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/token', undefined],
      ['/orders', 'Bearer own-token'],
    ])
  })
})
