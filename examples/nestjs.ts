// A NestJS application: an HttpService with tokens attached, and the token provider for any other client.
import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { credentialsFrom, type TokenProvider } from '@tokenwell/core'
import { InjectTokens, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { firstValueFrom } from 'rxjs'

interface Order {
  id: number
  item: string
}

@Injectable()
class OrdersService {
  constructor(
    @Inject(HttpService) private readonly http: HttpService,
    @InjectTokens() private readonly tokens: TokenProvider,
  ) {}

  async list(): Promise<Order[]> {
    const { data } = await firstValueFrom(this.http.get<Order[]>('/v1/orders'))
    return data
  }

  tokenExpiry(): Date | undefined {
    return this.tokens.peekToken()?.expiresAt
  }
}

@Module({
  imports: [
    TokenModule.forRootAsync({
      isGlobal: true,
      useFactory: () => credentialsFrom(process.env),
    }),
    TokenHttpModule.register({ baseURL: process.env.API_URL }),
  ],
  providers: [OrdersService],
})
class AppModule {}

const application = await NestFactory.createApplicationContext(AppModule, {
  logger: ['warn', 'error'],
})
application.enableShutdownHooks()

const orders = application.get(OrdersService)
console.log((await orders.list()).map(({ item }) => item).join(', '))
console.log(
  `The token expires in ${Math.round((orders.tokenExpiry()!.getTime() - Date.now()) / 60_000)} minutes`,
)

await application.close()
