import { HttpService } from '@nestjs/axios'
import { Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import * as axiosInterceptor from '@tokenwell/axios-interceptor'
import * as core from '@tokenwell/core'
import { getTokenProviderToken, InjectTokenProvider, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import axios from 'axios'
import { randomUUID } from 'node:crypto'
import 'reflect-metadata'
import { firstValueFrom } from 'rxjs'
import { expected, usePackages } from '../use-packages'

const platform = `${process.env.PLATFORM}-${randomUUID()}`

test('imports the packages', async () => {
  expect(await usePackages({ core, axiosInterceptor, axios }, platform)).toEqual(expected)
})

@Injectable()
class Orders {
  constructor(
    readonly http: HttpService,
    @InjectTokenProvider() readonly tokens: object,
  ) {}
}

@Module({
  imports: [
    TokenModule.forRoot({
      isGlobal: true,
      authUrl: `${platform}-nest`,
      clientId: 'c',
      clientSecret: 'secret',
    }),
    TokenHttpModule.register({ baseURL: `${platform}-nest/api` }),
  ],
  providers: [Orders],
})
class AppModule {}

test('injects by the metadata of decorators', async () => {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] })
  const { http, tokens } = app.get(Orders)
  expect(tokens).toBe(app.get(getTokenProviderToken()))
  const { data } = await firstValueFrom(http.get<{ path: string }>('/orders'))
  expect(data.path).toBe('/api/orders')
  await app.close()
})
