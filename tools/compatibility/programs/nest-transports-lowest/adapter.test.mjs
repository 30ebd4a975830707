// The adapter suite with the lowest versions of NestJS and axios.
import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Test } from '@nestjs/testing'
import { getTokenProviderToken, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { isAxiosError } from 'axios'
import { firstValueFrom } from 'rxjs'
import { createAxiosClient } from '../../../../packages/internal-testing/src/axios-client.ts'
import { describeAdapter } from '../../../../packages/internal-testing/src/vitest.ts'

const unused = {
  cacheKey: () => Promise.reject(new Error()),
  requestToken: () => Promise.reject(new Error()),
}

async function serviceOf({ tokens, options }) {
  if (typeof tokens === 'function') {
    const imports = [TokenHttpModule.register({ ...options, tokens })]
    return (await Test.createTestingModule({ imports }).compile()).get(HttpService, { strict: false })
  }
  const imports = [TokenModule.forRoot({ isGlobal: true, source: unused }), TokenHttpModule.register(options)]
  const module = await Test.createTestingModule({ imports })
    .overrideProvider(getTokenProviderToken())
    .useValue(tokens)
    .compile()
  return module.get(HttpService, { strict: false })
}

describeAdapter({
  name: 'NestJS 10.0',
  async createClient(attach) {
    const http = attach ? await serviceOf(attach) : new HttpService()
    return createAxiosClient((config) => firstValueFrom(http.request(config)))
  },
  tokenErrorOf: (error) => (isAxiosError(error) ? error.cause : undefined),
  cannotSend: ['web stream'],
})
