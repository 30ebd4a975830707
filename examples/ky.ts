// A ky client with tokens attached.
import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'

const authUrl = process.env.AUTH_URL!
const prefix = process.env.API_URL!
const clientId = process.env.CLIENT_ID!
const clientSecret = process.env.CLIENT_SECRET!

interface Order {
  id: number
  item: string
}

const tokens = createTokenProvider(
  clientCredentials({ authUrl, clientId, clientSecret }),
)
const api = ky
  .extend({ prefix, timeout: 5_000 })
  .extend(tokenHooks(tokens, { allowedOrigins: [prefix] }))

const orders = await api.get('v1/orders').json<Order[]>()
console.log(orders.map(({ item }) => item).join(', '))

const created = await api
  .post('v1/orders', { json: { item: 'sugar' } })
  .json<Order>()
console.log(created)

// One request without a token: the API rejects it.
const rejected = await api.get('v1/orders', {
  context: { token: false },
  throwHttpErrors: false,
})
console.log(rejected.status)
