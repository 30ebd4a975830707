import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'

const tokens = createTokenProvider({
  cacheKey: async () => '',
  requestToken: async () => ({ accessToken: 'secret', tokenType: 'Bearer', expiresIn: 3600, scope: [] }),
})

const clients = {
  URL: (url, options) => createTokenFetch(tokens, options)(url),
  Request: (url, options) => createTokenFetch(tokens, options)(new Request(url)),
  ky: (url, options) => ky.extend(tokenHooks(tokens, options))(url, { throwHttpErrors: false }),
  axios: (url, options) => {
    const instance = axios.create({ adapter: 'fetch', validateStatus: null })
    attachTokens(instance, tokens, options)
    return instance.get(url)
  },
}

export default {
  async fetch(request) {
    const { client, url, allowedOrigins } = await request.json()
    const { status } = await clients[client](url, { allowedOrigins })
    return new Response(null, { status })
  },
}
