// Before 2025-09-01, `fetch` of Workers sends `Authorization` to whichever origin a redirect leads to.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const dates = ['2023-09-01', '2024-09-01', '2025-08-01', '2026-07-01']
const received = []
const servers = [createServer(respond), createServer(respond)]
function respond({ url, headers }, response) {
  const { searchParams } = new URL(url, 'http://localhost')
  received.push({ host: headers.host, authorization: headers.authorization })
  if (searchParams.has('to'))
    response.writeHead(Number(searchParams.get('status')), { location: searchParams.get('to') })
  response.end()
}
const [port, otherPort] = await Promise.all(
  servers.map(async (server) => {
    await once(server.listen(0), 'listening')
    return server.address().port
  }),
)
const hosts = {
  'same origin': `127.0.0.1:${port}`,
  'other port': `127.0.0.1:${otherPort}`,
  'other host': `localhost:${port}`,
}
const allowedOrigins = Object.values(hosts).map((host) => `http://${host}`)

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('redirects-worker.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
})
let count = 0
const failures = []
for (const compatibilityDate of dates) {
  const worker = new Miniflare({ modules: true, script: outputFiles[0].text, compatibilityDate })
  for (const client of ['URL', 'Request', 'ky', 'axios']) {
    for (const [target, host] of Object.entries(hosts)) {
      for (const status of [301, 302, 303, 307, 308]) {
        count++
        received.length = 0
        const url = `${allowedOrigins[0]}/?status=${status}&to=${encodeURIComponent(`http://${host}/`)}`
        const body = JSON.stringify({ client, url, allowedOrigins })
        const response = await worker.dispatchFetch('http://worker/', { method: 'POST', body })
        const text = await response.text()
        try {
          assert.equal(response.status, 200, text)
          assert.deepEqual(received, [
            { host: hosts['same origin'], authorization: 'Bearer secret' },
            { host, authorization: target === 'same origin' ? 'Bearer secret' : undefined },
          ])
        } catch ({ message }) {
          failures.push(`${compatibilityDate}, ${client}, ${target}, ${status}: ${message}`)
        }
      }
    }
  }
  await worker.dispose()
}
for (const server of servers) {
  server.close()
  server.closeAllConnections()
}
for (const failure of failures.slice(0, 20)) console.error(failure)
console.log(`${count} cells, ${failures.length} failures`)
process.exit(failures.length > 0 ? 1 : 0)
