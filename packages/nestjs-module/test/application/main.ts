import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Controller, Get, Inject, Injectable, Module, Scope } from '@nestjs/common'
import { APP_FILTER, NestFactory } from '@nestjs/core'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokens, TokenErrorFilter, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { firstValueFrom } from 'rxjs'

// An application as its author would write it, except that its parent process stops it.

@Injectable({ scope: Scope.REQUEST })
class Orders {
  readonly #http: HttpService
  readonly #tokens: TokenProvider

  constructor(@Inject(HttpService) http: HttpService, @InjectTokens() tokens: TokenProvider) {
    this.#http = http
    this.#tokens = tokens
  }

  async list(): Promise<object> {
    const { data } = await firstValueFrom(this.#http.get<unknown>('/orders'))
    return { data, expiresAt: (await this.#tokens.getToken()).expiresAt }
  }
}

@Controller('orders')
class OrdersController {
  readonly #orders: Orders

  constructor(@Inject(Orders) orders: Orders) {
    this.#orders = orders
  }

  @Get()
  list(): Promise<object> {
    return this.#orders.list()
  }
}

@Module({
  imports: [
    TokenModule.forRootAsync({
      isGlobal: true,
      useFactory: () => ({
        tokenEndpoint: process.env['TOKEN_ENDPOINT'],
        clientId: process.env['CLIENT_ID']!,
        clientSecret: process.env['CLIENT_SECRET']!,
        eager: true,
      }),
    }),
    TokenHttpModule.register({ baseURL: process.env['API_URL']! }),
  ],
  controllers: [OrdersController],
  providers: [Orders, { provide: APP_FILTER, useClass: TokenErrorFilter }],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
  await app.listen(0, '127.0.0.1')
  process.once('message', () => {
    app.close().then(
      () => process.disconnect(),
      () => process.exit(1),
    )
  })
  process.send?.({ url: await app.getUrl(), nest: process.env['NEST_CORE'] })
}

main().catch(() => process.exit(1))
