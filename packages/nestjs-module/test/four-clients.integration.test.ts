import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Test } from '@nestjs/testing'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenFetch, isTokenError } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create } from 'axios'
import ky from 'ky'
import { firstValueFrom } from 'rxjs'
import { expect, it } from 'vitest'

const servers = useTestServers()

async function createClients(): Promise<((path: string) => Promise<number>)[]> {
  const { tokens } = servers
  const url = `${servers.api.origin}/v1`
  const apiFetch = createTokenFetch(tokens, { baseUrl: url })
  const instance = create({ baseURL: url })
  attachTokens(instance, tokens)
  const api = ky.extend(tokenHooks(tokens, { prefix: url }))
  const module = await Test.createTestingModule({
    imports: [TokenHttpModule.register({ tokens, baseURL: url })],
  }).compile()
  const http = module.get(HttpService, { strict: false })
  return [
    async (path) => (await apiFetch(path)).status,
    async (path) => (await instance.get(path)).status,
    async (path) => (await api.get(path)).status,
    async (path) => (await firstValueFrom(http.get(path))).status,
  ]
}

it('four clients of one provider share its token, its requests and its rejections', async () => {
  const { api, endpoint } = servers
  const clients = await createClients()
  const callAll = () => Promise.all([...clients, ...clients].map((call) => call('orders')))
  const allFine = Array.from({ length: 8 }, () => 200)
  expect(await callAll()).toStrictEqual(allFine)
  expect(endpoint.issued).toHaveLength(1)
  expect(api.requests.map(({ url }) => url)).toStrictEqual(Array.from({ length: 8 }, () => '/v1/orders'))
  api.rejects = (token) => token === endpoint.issued[0]
  expect(await callAll()).toStrictEqual(allFine)
  expect(endpoint.issued).toHaveLength(2)
})

it('four clients name what is missing', async () => {
  const { tokens } = servers
  const messageOf = async (create: () => unknown): Promise<string> => {
    try {
      await create()
    } catch (error) {
      if (isTokenError(error)) return error.message
    }
    return 'no error'
  }
  const nest = (options: object) =>
    Test.createTestingModule({ imports: [TokenHttpModule.register(options)] }).compile()
  expect(await messageOf(() => createTokenFetch(tokens, { baseUrl: undefined }))).toContain(
    'baseUrl is missing',
  )
  expect(await messageOf(() => attachTokens(create(), tokens))).toContain('baseURL is missing')
  expect(await messageOf(() => tokenHooks(tokens, { prefix: undefined }))).toContain('prefix is missing')
  expect(await messageOf(() => nest({ tokens, baseURL: undefined }))).toContain('baseURL is missing')
})
