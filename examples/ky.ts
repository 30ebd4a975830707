// A ky client with tokens attached.
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'

interface Order {
  id: number
  item: string
}

const tokens = clientCredentials(credentialsFrom(process.env))
const api = ky
  .extend({ timeout: 5_000 })
  .extend(tokenHooks(tokens, { prefix: process.env.API_URL }))

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
