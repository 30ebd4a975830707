// The cases in workerd, the runtime of Cloudflare Workers.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('worker.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
})
const names = ['AUTH_URL', 'API_URL', 'SANDBOX_URL', 'CLIENT_SECRET', 'API_CLIENT_ID', 'API_CLIENT_SECRET']
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: '2026-07-01',
  bindings: Object.fromEntries(names.map((name) => [name, process.env[name]])),
})
const { count, failures } = await (await worker.dispatchFetch('http://worker/')).json()
await worker.dispose()
for (const failure of failures) console.error(failure)
console.log(`${count - failures.length} of ${count} cases passed`)
process.exit(failures.length > 0 ? 1 : 0)
