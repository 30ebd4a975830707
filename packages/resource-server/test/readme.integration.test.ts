import { createServer } from 'node:http'
import type { Express } from 'express'
import { expect, it, onTestFinished } from 'vitest'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { listen } from './apis/node-apis.ts'

it('runs the example in the README', async () => {
  const endpoint = await startScriptedServer(() =>
    json({ active: true, client_id: 'acme', api_products: ['orders'] }),
  )
  onTestFinished(() => endpoint.close())
  const { app } = await runReadmeExample(new URL('../', import.meta.url), {
    AUTH_URL: endpoint.origin,
    API_CLIENT_ID: 'orders-api',
    API_CLIENT_SECRET: 'orders-secret',
  })
  const api = await listen(createServer(app as Express))
  onTestFinished(() => api.close())
  expect((await fetch(`${api.origin}/orders`)).status).toBe(401)
  const response = await fetch(`${api.origin}/orders`, { headers: { authorization: 'Bearer token' } })
  expect(await response.json()).toEqual({ client: 'acme' })
})
