// An axios instance with tokens attached.
import { attachTokens, withoutToken } from '@tokenwell/axios-interceptor'
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { create, isAxiosError } from 'axios'

interface Order {
  id: number
  item: string
}

const tokens = clientCredentials(credentialsFrom(process.env))
const api = create({ baseURL: process.env.API_URL, timeout: 5_000 })
// Tokens are sent to the origin of baseURL only, unless you set allowedOrigins.
attachTokens(api, tokens)

try {
  const { data: orders } = await api.get<Order[]>('/v1/orders')
  console.log(orders.map(({ item }) => item).join(', '))

  const { data: created } = await api.post<Order>('/v1/orders', { item: 'sugar' })
  console.log(created)

  // One request without a token: the API rejects it.
  const rejected = await api.get('/v1/orders', {
    ...withoutToken,
    validateStatus: null,
  })
  console.log(rejected.status)
} catch (error) {
  if (!isAxiosError(error)) throw error
  // ERR_TOKEN: no token, so the request was not sent; the cause is a TokenError.
  console.error(error.code, error.message)
  process.exitCode = 1
}
