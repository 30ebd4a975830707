// Calls an example: once, then 20 concurrent times after its token expired and while the token endpoint is unavailable, twice.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request, type IncomingMessage, type Server } from 'node:http'
import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

const expected = ['tea', 'cups']
const [name] = process.argv.slice(2)
const { API_URL, AUTH_URL, CLIENT_ID, CLIENT_SECRET, SANDBOX_URL } = process.env

interface Example {
  readonly listOrders: () => Promise<string[]>
  readonly close?: (() => unknown) | undefined
}

/** Not by `fetch`, which an example may instrument. */
async function sendRequest(url: string, body?: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const sent = request(url, body ? { method: 'POST', headers } : {}).end(body && JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return json(response)
}

async function itemsOf(response: Response): Promise<string[]> {
  assert.equal(response.status, 200)
  return ((await response.json()) as { item: string }[]).map(({ item }) => item)
}

async function startWorker(file: string, durableObjects = {}): Promise<Example> {
  const { build } = await import('esbuild')
  const { Miniflare } = await import('miniflare')
  const { outputFiles } = await build({
    entryPoints: [new URL(`../${file}.ts`, import.meta.url).pathname],
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
    durableObjects,
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
  'cloudflare-worker': () => startWorker('cloudflare-worker'),
  'durable-objects': () =>
    startWorker('durable-objects', { TOKENS: { className: 'SharedToken', useSQLite: true } }),
  async orval() {
    const { listOrders } = await import('../generated/orval.ts')
    return { listOrders: async () => (await listOrders()).data.map(({ item }) => item) }
  },
  async dynamodb() {
    const { default: dynalite } = await import('dynalite')
    const server = dynalite({ createTableMs: 0 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      TOKEN_KEY: randomBytes(32).toString('base64'),
    })
    const { CreateTableCommand, DynamoDBClient, waitUntilTableExists } =
      await import('@aws-sdk/client-dynamodb')
    const client = new DynamoDBClient()
    await client.send(
      new CreateTableCommand({
        TableName: 'tokens',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
      }),
    )
    await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 10 }, { TableName: 'tokens' })
    return import('../dynamodb.ts')
  },
  async otlp() {
    const { tracerProvider } = await import('../otlp.ts')
    const tracer = tracerProvider.getTracer('orders')
    let ended = 0
    const listOrders = async () => {
      for (const item of expected) tracer.startSpan(item).end()
      ended += expected.length
      await tracerProvider.forceFlush()
      return expected
    }
    // The collector has each of these spans once, and none of the requests for tokens and exports.
    const close = async () => {
      await tracerProvider.shutdown()
      const names = (await sendRequest(`${API_URL}/spans`)) as string[]
      assert.deepEqual([...new Set(names)].sort(), [...expected].sort())
      assert.equal(names.length, ended)
    }
    return { listOrders, close }
  },
  async kafkajs() {
    // Without a broker: only the callback is called, as KafkaJS calls it for each connection.
    const { oauthBearerProvider } = await import('../kafkajs.ts')
    return { listOrders: async () => ((await oauthBearerProvider()).value ? expected : []) }
  },
}

const example = await (callers[name!]?.() ?? (import(`../${name}.ts`) as Promise<Example>))
assert.deepEqual(await example.listOrders(), expected)
for (const headers of [{ 'retry-after': '2' }, {}]) {
  // All tokens expire, and the next two requests for another one fail.
  await sendRequest(`${SANDBOX_URL}/clock`, { advanceSeconds: 7_200 })
  const body = { error: 'temporarily_unavailable' }
  await sendRequest(`${SANDBOX_URL}/faults`, { requests: 2, status: 503, headers, body })
  const results = await Promise.all(Array.from({ length: 20 }, () => example.listOrders()))
  for (const result of results) assert.deepEqual(result, expected)
}
await example.close?.()
// Some clients keep connections open.
process.exit(0)
