// The adapter suite with the lowest versions of NestJS and axios.
import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Test } from '@nestjs/testing'
import { getTokenProviderToken, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { describeAdapter } from '@tokenwell/testing'
import { isAxiosError } from 'axios'
import { firstValueFrom } from 'rxjs'

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
    return async ({ url, method, headers, body, signal, timeoutMs, token }) => {
      const config = {
        url,
        method: method ?? (body ? 'POST' : 'GET'),
        ...(headers && { headers }),
        ...(body && { data: body.value }),
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeout: timeoutMs }),
        ...(token === false && { token }),
        transformResponse: (data) => data,
      }
      try {
        const response = await firstValueFrom(http.request(config))
        return { status: response.status, text: response.data, received: response }
      } catch (error) {
        if (error.response === undefined) throw error
        return { status: error.response.status, text: error.response.data, received: error }
      }
    }
  },
  tokenErrorOf: (error) => (isAxiosError(error) ? error.cause : undefined),
  cannotSend: ['web stream'],
})
