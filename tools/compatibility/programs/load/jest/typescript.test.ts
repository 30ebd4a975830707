import { HttpService } from '@nestjs/axios'
import { Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import * as axiosInterceptor from '@tokenwell/axios-interceptor'
import * as core from '@tokenwell/core'
import { getTokenProviderToken, InjectTokens, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import axios from 'axios'
import 'reflect-metadata'
import { firstValueFrom } from 'rxjs'
import { credentials, expected, usePackages } from '../use-packages'

test('imports the packages', async () => {
  expect(await usePackages({ core, axiosInterceptor, axios })).toEqual(expected)
})

@Injectable()
class Orders {
  constructor(
    readonly http: HttpService,
    @InjectTokens() readonly tokens: object,
  ) {}
}

@Module({
  imports: [
    TokenModule.forRoot({ isGlobal: true, ...credentials }),
    TokenHttpModule.register({ baseURL: process.env.API_URL! }),
  ],
  providers: [Orders],
})
class AppModule {}

test('injects by the metadata of decorators', async () => {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] })
  const { http, tokens } = app.get(Orders)
  expect(tokens).toBe(app.get(getTokenProviderToken()))
  const { data } = await firstValueFrom(http.get<object[]>('/v1/orders'))
  expect(data).toHaveLength(2)
  await app.close()
})
