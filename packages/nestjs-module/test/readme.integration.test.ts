import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import type { Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { firstValueFrom } from 'rxjs'
import { expect, it } from 'vitest'

const servers = useTestServers()

it('runs the example in the README', async () => {
  const { AppModule } = await runReadmeExample(new URL('../', import.meta.url), {
    AUTH_URL: servers.endpoint.origin,
    API_URL: servers.api.origin,
    CLIENT_ID: 'a-client',
    CLIENT_SECRET: 'a-secret',
  })
  const app = await NestFactory.createApplicationContext(AppModule as Type, { logger: ['error', 'warn'] })
  await firstValueFrom(app.get(HttpService, { strict: false }).get('/v1/orders'))
  expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  await app.close()
})
