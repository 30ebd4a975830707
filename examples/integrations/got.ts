// got: two hooks attach the token and repeat a request whose token the API rejected.
import { type AccessToken, clientCredentials, credentialsFrom } from '@tokenwell/core'
import { classifyApiResponse } from '@tokenwell/core/protocol'
import got from 'got'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const api = got.extend({
  prefixUrl: API_URL!,
  hooks: {
    beforeRequest: [
      async (options) => {
        // Never to another origin.
        if ((options.url as URL).origin !== new URL(API_URL!).origin) return
        const token = await tokens.getToken()
        options.context = { ...options.context, token }
        options.headers['authorization'] = `Bearer ${token.value}`
      },
    ],
    afterResponse: [
      async (response, retry) => {
        const { token } = response.request.options.context as { token?: AccessToken }
        const headers = new Headers(response.headers as Record<string, string>)
        if (!token || !classifyApiResponse(response.statusCode, headers).tokenRejected) return response
        tokens.reject(token)
        const { value } = await tokens.getToken()
        return retry({ headers: { authorization: `Bearer ${value}` } })
      },
    ],
  },
})

export async function listOrders(): Promise<string[]> {
  const orders = await api.get('v1/orders').json<{ item: string }[]>()
  return orders.map(({ item }) => item)
}
