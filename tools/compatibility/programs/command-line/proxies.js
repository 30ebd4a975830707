// `tokenwell doctor` reports a proxy exactly if this version of Node sends requests through it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('node_modules/tokenwell/dist/tokenwell.js', import.meta.url))
// Without a name server.
const stub =
  "data:text/javascript,import dns from 'node:dns'; dns.lookup = (...args) => args.at(-1)(new Error('not found'))"
const credentials = { CLIENT_ID: 'demo', CLIENT_SECRET: 'demo' }

let connections = 0
const proxy = createServer((socket) => {
  connections++
  socket.on('error', () => {}).destroy()
}).listen(0, '127.0.0.1')
await once(proxy, 'listening')
const HTTP_PROXY = `http://127.0.0.1:${proxy.address().port}`

/** Runs this version of Node to its end. */
function runNode(args, environment) {
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY, ...environment }
  return new Promise((resolve) =>
    execFile(process.execPath, ['--import', stub, ...args], { env }, (_error, stdout) => resolve(stdout)),
  )
}

const url = 'https://api.example.test/token'
const cases = [
  {},
  { HTTP_PROXY: '' },
  { HTTP_PROXY: '', HTTPS_PROXY: HTTP_PROXY },
  { http_proxy: '' },
  ...[
    'api.example.test',
    'API.example.test',
    'example.test',
    '.example.test',
    '*.example.test',
    '.api.example.test',
    'ample.test',
    '*ample.test',
    'api.example.test:443',
    'example.test:443',
    'api.example.test:80',
    '*',
    'other.test,*',
    'other.test api.example.test',
  ].map((NO_PROXY) => ({ NO_PROXY })),
]

for (const environment of cases) {
  connections = 0
  await runNode(['--eval', `fetch('${url}').catch(() => {})`], environment)
  const isUsed = connections > 0
  const args = ['doctor', '--json', '--timeout', '5', '--token-endpoint', url]
  const { findings } = JSON.parse(await runNode([command, ...args], { ...credentials, ...environment }))
  const isReported = findings.some(({ code }) => code === 'through_proxy')
  assert.equal(isReported, isUsed, `Node ${process.version}, ${JSON.stringify(environment)}`)
}
proxy.close()
