// Calls an example: once, and 20 times at once after its token was revoked and while the token endpoint is unavailable.
import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

const expected = ['tea', 'cups']
const [name] = process.argv.slice(2)
const { API_URL, AUTH_URL, CLIENT_ID, CLIENT_SECRET, CONTROL_URL } = process.env

interface Example {
  readonly listOrders: () => Promise<string[]>
  readonly close?: (() => unknown) | undefined
}

async function itemsOf(response: Response): Promise<string[]> {
  assert.equal(response.status, 200)
  return ((await response.json()) as { item: string }[]).map(({ item }) => item)
}

/** Examples that are servers or handlers are called by their own kind of request. */
const callers: Record<string, () => Promise<Example>> = {
  async express() {
    const { app } = await import('../express.ts')
    const server = await new Promise<Server>((resolve) => {
      const started: Server = app.listen(0, '127.0.0.1', () => resolve(started))
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`
    return { listOrders: async () => itemsOf(await fetch(url)), close: () => server.close() }
  },
  async fastify() {
    const { app } = await import('../fastify.ts')
    const listOrders = async () => {
      const response = await app.inject('/orders')
      return itemsOf(new Response(response.body, { status: response.statusCode }))
    }
    return { listOrders, close: () => app.close() }
  },
  async hono() {
    const { app } = await import('../hono.ts')
    return { listOrders: async () => itemsOf(await app.request('/orders')) }
  },
  async nextjs() {
    const { GET } = await import('../nextjs.ts')
    return { listOrders: async () => itemsOf(await GET()) }
  },
  async 'aws-lambda'() {
    const { handler } = await import('../aws-lambda.ts')
    const listOrders = async () => {
      const { body, statusCode } = (await handler()) as { body: string; statusCode: number }
      return itemsOf(new Response(body, { status: statusCode }))
    }
    return { listOrders }
  },
  async 'cloudflare-worker'() {
    const { build } = await import('esbuild')
    const { Miniflare } = await import('miniflare')
    const { outputFiles } = await build({
      entryPoints: [new URL('../cloudflare-worker.ts', import.meta.url).pathname],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:workers'],
    })
    const worker = new Miniflare({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: '2026-07-01',
      bindings: {
        AUTH_URL: AUTH_URL!,
        API_URL: API_URL!,
        CLIENT_ID: CLIENT_ID!,
        CLIENT_SECRET: CLIENT_SECRET!,
      },
    })
    const listOrders = async () => {
      const response = await worker.dispatchFetch('http://localhost/')
      return itemsOf(new Response(await response.text(), { status: response.status }))
    }
    return { listOrders, close: () => worker.dispose() }
  },
  async kafkajs() {
    // Without a broker: only the callback is called, as KafkaJS calls it for each connection.
    const { oauthBearerProvider } = await import('../kafkajs.ts')
    return { listOrders: async () => ((await oauthBearerProvider()).value ? expected : []) }
  },
}

const example = await (callers[name!]?.() ?? (import(`../${name}.ts`) as Promise<Example>))
assert.deepEqual(await example.listOrders(), expected)
await fetch(`${CONTROL_URL}/revoke`, { method: 'POST' })
const results = await Promise.all(Array.from({ length: 20 }, () => example.listOrders()))
for (const result of results) assert.deepEqual(result, expected)
await example.close?.()
// Some clients keep connections open.
process.exit(0)
