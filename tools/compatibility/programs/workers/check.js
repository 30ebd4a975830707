// Cloudflare's runtime drops a request's I/O and timers when the request ends: later requests must not wait for them.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const { AUTH_URL, API_URL, SANDBOX_URL, CLIENT_SECRET } = process.env
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('worker.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:workers'],
})
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: '2026-07-01',
  bindings: { AUTH_URL, API_URL, CLIENT_SECRET },
})

/** Each of these names is a client of the token service, with a path of the API. */
const slowDown = (clientId, latencyMs) =>
  fetch(`${SANDBOX_URL}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, latencyMs, requests: 1_000 }),
  })
const tokenRequests = async (name) =>
  (await (await fetch(`${SANDBOX_URL}/journal`)).json()).counts.client[name]
const statuses = async (name) =>
  (await (await fetch(`${API_URL}/requests`)).json())
    .filter(({ url }) => url.endsWith(`/${name}`))
    .map(({ status }) => status)

/** One request to the worker, which must call the API within 3 s. */
async function call(name) {
  const began = performance.now()
  const response = await Promise.race([
    worker.dispatchFetch(`http://worker/call/${name}`),
    delay(10_000).then(() => assert.fail(`${name}: no response in 10 s`)),
  ])
  assert.equal(response.status, 200, `${name}: ${await response.clone().text()}`)
  await response.text()
  const took = performance.now() - began
  assert.ok(took < 3000, `${name}: a call took ${Math.round(took)} ms`)
}

/** Requests every 200 ms over three lifetimes, with a token endpoint that is slower than a request. */
async function callOverThreeLifetimes(name) {
  await slowDown(name, 300)
  for (const end = Date.now() + 6500; Date.now() < end; await delay(200)) await call(name)
  const requested = await tokenRequests(name)
  assert.ok(requested >= 3 && requested <= 6, `${name}: ${requested} token requests`)
  assert.ok(!(await statuses(name)).includes(401), `${name}: the API rejected a token`)
}

/** A request that starts a token request and leaves before its response. */
async function callAfterLeaver(name) {
  await slowDown(name, 400)
  await worker.dispatchFetch(`http://worker/leave/${name}`)
  await call(name)
  await call(name)
}

async function callTwentyTimesAtOnce(name) {
  await slowDown(name, 200)
  await Promise.all(Array.from({ length: 20 }, () => call(name)))
  assert.deepEqual(
    await statuses(name),
    Array.from({ length: 20 }, () => 200),
  )
}

const outcomes = await Promise.allSettled([
  callOverThreeLifetimes('plain-refresh'),
  callOverThreeLifetimes('wait-until-refresh'),
  callAfterLeaver('plain-leaver'),
  callAfterLeaver('wait-until-leaver'),
  callTwentyTimesAtOnce('plain-twenty'),
  callTwentyTimesAtOnce('wait-until-twenty'),
])
await worker.dispose()
const failures = outcomes.filter(({ status }) => status === 'rejected')
for (const { reason } of failures) console.error(String(reason))
process.exit(failures.length > 0 ? 1 : 0)
