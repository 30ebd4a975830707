import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenFetch, createTokenProvider, TokenError } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import required from './required.cjs'

/** Three clients of one provider, one of them from a CommonJS module of the bundle. */
export async function program(platform) {
  const tokens = required.core.createTokenProvider(
    clientCredentials({
      authUrl: platform,
      clientId: 'c',
      clientSecret: 'secret',
      dangerouslyAllowBrowser: true,
    }),
  )
  const allowedOrigins = [new URL(platform).origin]
  const instance = axios.create({ baseURL: `${platform}/api` })
  attachTokens(instance, tokens)
  const [viaFetch, viaAxios, viaKy] = await Promise.all([
    createTokenFetch(tokens, { allowedOrigins })(`${platform}/api/fetch`).then((response) => response.json()),
    instance.get('/axios').then(({ data }) => data),
    ky.extend(tokenHooks(tokens, { allowedOrigins })).get(`${platform}/api/ky`).json(),
  ])
  await tokens.close()
  const closed = await createTokenProvider({
    requestToken: () => Promise.reject(new TokenError({ kind: 'credentials', message: 'no' })),
  })
    .getToken()
    .catch((error) => error)
  const { tokenRequests } = await (await fetch(`${platform}/counts`)).json()
  return JSON.stringify({
    paths: [viaFetch.path, viaAxios.path, viaKy.path],
    tokenRequests,
    oneCopy: closed instanceof required.core.TokenError,
  })
}
