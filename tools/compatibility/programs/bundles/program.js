import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenFetch, createTokenProvider, TokenError } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import required from './required.cjs'

/** Three clients of one provider, one of them from a CommonJS module of the bundle. */
export async function program({ AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET }) {
  const tokens = clientCredentials({
    authUrl: AUTH_URL,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    dangerouslyAllowBrowser: true,
  })
  const allowedOrigins = [API_URL]
  const instance = axios.create({ baseURL: API_URL })
  attachTokens(instance, tokens)
  const lists = await Promise.all([
    createTokenFetch(tokens, { allowedOrigins })(`${API_URL}/v1/orders`).then((response) => response.json()),
    instance.get('/v1/orders').then(({ data }) => data),
    ky.extend(tokenHooks(tokens, { allowedOrigins })).get(`${API_URL}/v1/orders`).json(),
  ])
  await tokens.close()
  const closed = await createTokenProvider({
    requestToken: () => Promise.reject(new TokenError({ kind: 'credentials', message: 'no' })),
  })
    .getToken()
    .catch((error) => error)
  return JSON.stringify({
    orders: lists.flatMap((list) => list.map(({ item }) => item)),
    oneCopy: closed instanceof required.core.TokenError,
  })
}
