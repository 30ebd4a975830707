// Both ends in one program: a NestJS API that requires access tokens, and clients that call it with their tokens.
import 'reflect-metadata'
import { Body, Controller, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { attachTokens } from '@tokenwell/axios-interceptor'
import {
  clientCredentials,
  createTokenFetch,
  credentialsFrom,
} from '@tokenwell/core'
import type { VerifiedToken } from '@tokenwell/resource-server'
import {
  Public,
  RequireProducts,
  ResourceServerModule,
  VerifiedAccessToken,
} from '@tokenwell/resource-server/nestjs'
import { create, isAxiosError } from 'axios'

@Controller('orders')
@RequireProducts('orders')
class OrdersController {
  readonly #orders = [{ id: 1, item: 'tea', client: 'demo' }]

  @Get()
  list(@VerifiedAccessToken() { clientId }: VerifiedToken) {
    return this.#orders.filter(({ client }) => client === clientId)
  }

  @Post()
  add(
    @VerifiedAccessToken() { clientId = '' }: VerifiedToken,
    @Body() { item }: { item: string },
  ) {
    const order = { id: this.#orders.length + 1, item, client: clientId }
    this.#orders.push(order)
    return order
  }

  @Get('health')
  @Public()
  health() {
    return { status: 'ok' }
  }
}

@Module({
  imports: [
    ResourceServerModule.forRoot({
      guardAll: true,
      realm: 'orders',
      // The API's own credentials, not those of its callers.
      introspection: credentialsFrom(process.env, { prefix: 'API_' }),
    }),
  ],
  controllers: [OrdersController],
})
class OrdersModule {}

const api = await NestFactory.create(OrdersModule, { logger: ['warn', 'error'] })
await api.listen(0, '127.0.0.1')
const apiUrl = await api.getUrl()

// An application whose token covers the product, with fetch.
const demo = clientCredentials(credentialsFrom(process.env))
const demoFetch = createTokenFetch(demo, { baseUrl: apiUrl })
await demoFetch('/orders', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ item: 'cups' }),
})
const response = await demoFetch('/orders')
const orders = (await response.json()) as { item: string }[]
console.log(orders.map(({ item }) => item).join(', '))

// An application whose token does not cover it, with axios.
const acme = clientCredentials({
  authUrl: process.env.AUTH_URL,
  clientId: 'acme',
  clientSecret: 'acme-secret',
})
const acmeApi = create({ baseURL: apiUrl })
attachTokens(acmeApi, acme)
await acmeApi.get('/orders').catch((error: unknown) => {
  if (!isAxiosError(error)) throw error
  console.log(error.response?.status, error.response?.data.error_description)
})

// A request without a token.
const anonymous = await fetch(`${apiUrl}/orders`)
console.log(anonymous.status, anonymous.headers.get('www-authenticate'))
console.log((await fetch(`${apiUrl}/orders/health`)).status)

await api.close()
