import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenProvider } from '@tokenwell/core'
import axios from 'axios'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'

it('attaches, renews and repeats once', async () => {
  const seen: unknown[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push([request.headers.authorization, body])
    response.writeHead(request.headers.authorization === 'Bearer token-1' ? 401 : 200).end('{"a":1}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  let count = 0
  const tokens = createTokenProvider({
    cacheKey: async () => 'x',
    requestToken: async () => ({
      accessToken: `token-${++count}`,
      tokenType: 'Bearer',
      scope: [],
      expiresIn: 60,
    }),
  })
  const api = axios.create({ baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  attachTokens(api, tokens)
  const response = await api.post('/x', { hello: 1 })
  expect(response.data).toEqual({ a: 1 })
  expect(seen).toEqual([
    ['Bearer token-1', '{"hello":1}'],
    ['Bearer token-2', '{"hello":1}'],
  ])
  expect(inspect(response, { depth: null })).not.toContain('token-2')
  server.close()
})
