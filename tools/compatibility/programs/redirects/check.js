// Which requests each client sends when an API redirects it: none takes the token to another origin, and none applies a POST twice.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setDefaultCACertificates } from 'node:tls'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import nodeFetch from 'node-fetch'
import nodeFetch2 from 'node-fetch-2'
import { generate } from 'selfsigned'
import { fetch as undiciFetch } from 'undici'

const isNode = !process.versions.bun && !process.versions.deno
const statuses = [301, 302, 303, 307, 308]
const bodies = ['none', 'text', 'stream']
const lastStatuses = [200, 401]

/** Every request by case, in the order of arrival. */
const received = new Map()

/** `/CASE/start/STATUS?TARGET` redirects; `/CASE/end/LAST` responds with 200, or with 401 to all but the second token. */
async function respond(request, response) {
  const { pathname, search } = new URL(request.url, 'http://localhost')
  const [, id, step, status] = pathname.split('/')
  const { authorization, ...headers } = request.headers
  const body = await text(request)
  const origin = `${request.socket.encrypted ? 'https' : 'http'}://${headers.host}`
  received.get(id).push({ step, origin, method: request.method, authorization, headers, body })
  if (step === 'start') {
    response.writeHead(Number(status), { location: decodeURIComponent(search.slice(1)) })
    return response.end()
  }
  const accepted = status === '200' || authorization === 'Bearer second'
  response.writeHead(accepted ? 200 : 401, { 'www-authenticate': 'Bearer error="invalid_token"' })
  response.end(accepted ? 'arrived' : '')
}

const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
  extensions: [
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ],
})
// Bun and Deno trust it by a variable and a flag.
if (isNode) setDefaultCACertificates([cert])
else process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
const servers = [createServer(respond), createServer(respond), createSecureServer({ cert, key }, respond)]
const [port, otherPort, securePort] = await Promise.all(
  servers.map(async (server) => {
    // A client does not send a POST again whose connection was closed meanwhile.
    server.keepAliveTimeout = 60_000
    await once(server.listen(0), 'listening')
    return server.address().port
  }),
)
const api = `http://127.0.0.1:${port}`
const targets = {
  'same origin': api,
  'other port': `http://127.0.0.1:${otherPort}`,
  'other host': `http://localhost:${port}`,
  'other scheme': `https://127.0.0.1:${securePort}`,
}
// All are allowed: even so, no redirect takes a token to one.
const options = { allowedOrigins: Object.values(targets) }

const webStream = () => new Response('order').body
const nodeStream = () => Readable.from(['order'])
const byFetch = (fetch, stream = webStream) => {
  return (tokens) => {
    const send = createTokenFetch(tokens, { ...options, fetch })
    return async (url, body) => {
      const init = { text: { method: 'POST', body: 'order' } }[body] ?? {}
      const streamed = body === 'stream' ? { method: 'POST', body: stream(), duplex: 'half' } : {}
      const headers = { 'x-app': 'yes', ...(body !== 'none' && { 'content-type': 'text/plain' }) }
      return (await send(url, { headers, ...init, ...streamed })).status
    }
  }
}
const byAxios = (library, adapter, stream) => (tokens) => {
  const instance = library.create({ adapter, baseURL: api, validateStatus: null, maxRedirects: 5 })
  attachTokens(instance, tokens, options)
  return async (url, body) => {
    const data = { text: 'order', stream: body === 'stream' ? stream() : undefined }[body]
    const headers = { 'x-app': 'yes', ...(body !== 'none' && { 'content-type': 'text/plain' }) }
    return (await instance.request({ url, method: body === 'none' ? 'get' : 'post', data, headers })).status
  }
}
const oldAxios = createRequire(import.meta.url)('axios-1.7')

const clients = {
  fetch: byFetch(undefined),
  undici: byFetch(undiciFetch),
  'node-fetch 3': byFetch(nodeFetch, nodeStream),
  'node-fetch 2': byFetch(nodeFetch2, nodeStream),
  ky: (tokens) => {
    const client = ky.create({ throwHttpErrors: false, retry: 2 }).extend(tokenHooks(tokens, options))
    return async (url, body) => {
      const given = { none: {}, text: { body: 'order' }, stream: { body: webStream(), duplex: 'half' } }[body]
      const headers = { 'x-app': 'yes', ...(body !== 'none' && { 'content-type': 'text/plain' }) }
      return (await client(url, { method: body === 'none' ? 'get' : 'post', headers, ...given })).status
    }
  },
  'axios, fetch': byAxios(axios, 'fetch', webStream),
  'axios, http': byAxios(axios, 'http', nodeStream),
  'axios 1.7, fetch': byAxios(oldAxios, 'fetch', webStream),
  'axios 1.7, http': byAxios(oldAxios, 'http', nodeStream),
}

/** What must be sent, by the Fetch standard (HTTP-redirect fetch) and RFC 9110, section 9.2.2. */
function expected({ client, status, target, body, last }) {
  // It follows redirects inside Node's `http`, and keeps what it sent of a stream.
  const followsItself = client.endsWith('http')
  const method = body === 'none' ? 'GET' : 'POST'
  const start = {
    step: 'start',
    method,
    authorization: 'Bearer first',
    body: method === 'GET' ? '' : 'order',
  }
  if (body === 'stream' && status !== 303 && !followsItself) return { requests: [start], outcome: 'error' }
  const becomesGet = status <= 303
  const end = { step: 'end', method: becomesGet ? 'GET' : method, body: becomesGet ? '' : start.body }
  if (target !== 'same origin')
    return { requests: [start, { ...end, authorization: undefined }], outcome: last }
  const arrived = [start, { ...end, authorization: 'Bearer first' }]
  if (last === 200) return { requests: arrived, outcome: 200 }
  const second = { ...end, authorization: 'Bearer second' }
  if (!followsItself) return { requests: [...arrived, second], outcome: 200 }
  // Only the whole request can be sent again, which is safe for GET alone.
  if (method === 'POST') return { requests: arrived, outcome: 401 }
  return { requests: [...arrived, { ...start, authorization: 'Bearer second' }, second], outcome: 200 }
}

let count = 0
const failures = []
async function check(cell) {
  const id = String(++count)
  received.set(id, [])
  const issued = ['first', 'second', 'third']
  const tokens = createTokenProvider({
    cacheKey: async () => id,
    requestToken: async () => ({
      accessToken: issued.shift(),
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: [],
    }),
  })
  const send = clients[cell.client](tokens)
  const location = encodeURIComponent(`${targets[cell.target]}/${id}/end/${cell.last}`)
  const outcome = await send(`${api}/${id}/start/${cell.status}?${location}`, cell.body).catch(() => 'error')
  await tokens.close()
  const requests = received.get(id)
  const wanted = expected(cell)
  try {
    assert.equal(outcome, wanted.outcome)
    assert.deepEqual(
      requests.map(({ step, method, authorization, body }) => ({ step, method, authorization, body })),
      wanted.requests,
    )
    for (const { step, method, headers, origin } of requests) {
      assert.equal(origin, step === 'start' ? api : targets[cell.target])
      assert.equal(headers['x-app'], 'yes')
      assert.equal(headers['content-type'], method === 'POST' ? 'text/plain' : undefined)
    }
    return true
  } catch (error) {
    failures.push(`${Object.values(cell).join(', ')}: ${error.message}`)
    return false
  }
}

for (const client of Object.keys(clients)) {
  let line = client.padEnd(18)
  for (const target of Object.keys(targets)) {
    const cells = statuses.flatMap((status) =>
      bodies.flatMap((body) => lastStatuses.map((last) => ({ client, status, target, body, last }))),
    )
    const results = []
    for (const cell of cells) results.push(await check(cell))
    line += `${target}: ${results.filter(Boolean).length} of ${cells.length}   `
  }
  console.log(line)
}
const all = [...received.values()].flat()
const strangers = all.filter(({ authorization, origin }) => authorization !== undefined && origin !== api)
const twice = [...received.values()].filter(
  (requests) => requests.filter(({ step, method }) => step === 'start' && method === 'POST').length > 1,
)
console.log(
  `${count} cells, ${all.length} requests; ${strangers.length} tokens at another origin, ${twice.length} POSTs sent twice`,
)
for (const server of servers) {
  server.close()
  server.closeAllConnections()
}
for (const failure of failures.slice(0, 20)) console.error(failure)
process.exit(failures.length + strangers.length + twice.length > 0 ? 1 : 0)
