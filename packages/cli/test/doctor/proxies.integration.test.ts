import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { checkProxy } from '../../src/doctor/check-network.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { startTokenwell } from '../tokenwell-process.ts'
import { startRawServer } from './run-doctor.ts'

/** Sends a request in a process of Node whose own lookups fail. */
const send = `
  require('node:dns').lookup = (...args) => args.at(-1)(new Error('not found'))
  fetch(process.argv[1]).catch(() => {})
`

const plain = 'http://api.example.test:8080/token'
const secure = 'https://api.example.test/token'

it.each<[url: string, env: Record<string, string>, used: string | false]>([
  [plain, {}, false],
  [plain, { HTTP_PROXY: 'proxy' }, 'HTTP_PROXY'],
  [plain, { http_proxy: 'proxy' }, 'http_proxy'],
  [plain, { http_proxy: 'proxy', HTTP_PROXY: '' }, 'http_proxy'],
  [plain, { http_proxy: '', HTTP_PROXY: 'proxy' }, false],
  [plain, { HTTPS_PROXY: 'proxy' }, false],
  [plain, { ALL_PROXY: 'proxy' }, false],
  [secure, { HTTPS_PROXY: 'proxy' }, 'HTTPS_PROXY'],
  [secure, { https_proxy: 'proxy' }, 'https_proxy'],
  [secure, { HTTP_PROXY: 'proxy' }, 'HTTP_PROXY'],
  [secure, { HTTP_PROXY: 'proxy', https_proxy: '' }, 'HTTP_PROXY'],
  [plain, { HTTP_PROXY: 'proxy', NODE_USE_ENV_PROXY: '0' }, false],
  [plain, { HTTP_PROXY: 'proxy', NODE_USE_ENV_PROXY: 'true' }, false],
  [plain, { HTTP_PROXY: 'proxy', NODE_USE_ENV_PROXY: '', NODE_OPTIONS: '--use-env-proxy' }, 'HTTP_PROXY'],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: '*' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: '*, example.com' }, 'HTTP_PROXY'],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: 'other.test,api.example.test' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: 'other.test API.example.test' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: 'example.test' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: '.example.test' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: '*.example.test' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: 'ample.test' }, 'HTTP_PROXY'],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: 'api.example.test:8080' }, false],
  [plain, { HTTP_PROXY: 'proxy', NO_PROXY: '.example.test:443' }, 'HTTP_PROXY'],
  [secure, { HTTPS_PROXY: 'proxy', NO_PROXY: 'api.example.test:443' }, false],
  [secure, { HTTPS_PROXY: 'proxy', NO_PROXY: 'api.example.test:80' }, 'HTTPS_PROXY'],
  [plain.replace(':8080', ''), { HTTP_PROXY: 'proxy', NO_PROXY: 'api.example.test:80' }, false],
  ['http://[::1]:8080', { HTTP_PROXY: 'proxy', NO_PROXY: '[::1]' }, false],
  [plain, { HTTP_PROXY: 'proxy', no_proxy: '', NO_PROXY: 'example.test' }, 'HTTP_PROXY'],
  [plain, { HTTP_PROXY: 'proxy', no_proxy: 'example.test', NO_PROXY: '' }, false],
])('knows whether Node sends a request to %s through a proxy: %j', async (url, given, used) => {
  let connections = 0
  const { port } = await startRawServer((socket) => {
    connections++
    socket.destroy()
  })
  const named = Object.entries(given).map(([name, value]) => [
    name,
    value === 'proxy' ? `http://127.0.0.1:${port}` : value,
  ])
  const env = { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(named) }
  await promisify(execFile)(process.execPath, ['--eval', send, url], { env })
  expect(connections > 0).toBe(used !== false)

  const checked = checkProxy(new URL(url), env)
  expect(checked.used ?? false).toBe(used)
  if (used) expect(checked.finding?.message).toContain(`the proxy set in ${used}.`)
})

const credentials = { CLIENT_ID: 'demo', CLIENT_SECRET: 'demo' }

async function examinedThrough(response: string | undefined) {
  const { port } = await startRawServer((socket) => {
    socket.once('data', () => response && socket.end(`HTTP/1.1 ${response}\r\ncontent-length: 0\r\n\r\n`))
  })
  const timeout = response === undefined ? '2' : '30'
  const args = [
    'doctor',
    '--json',
    '--timeout',
    timeout,
    '--token-endpoint',
    'https://auth.example.test/token',
  ]
  const env = { ...credentials, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: `http://127.0.0.1:${port}` }
  const start = performance.now()
  const doctor = startTokenwell(args, env)
  expect((await doctor.ended).code).toBe(1)
  const { findings } = JSON.parse(doctor.written.stdout) as { findings: Finding[] }
  return { problem: findings.find(({ level }) => level === 'problem'), ms: performance.now() - start }
}

it.each([
  ['407 Proxy Authentication Required', 'user name and password'],
  ['502 Bad Gateway', 'It cannot reach auth.example.test'],
  ['403 Forbidden', 'Ask its operators to allow connections to auth.example.test'],
])('names a proxy that responds to CONNECT with %s', async (response, advice) => {
  const { problem } = await examinedThrough(response)
  expect(problem).toMatchObject({
    code: 'proxy_rejected_connection',
    message: `The proxy did not open a connection to auth.example.test (it responded to CONNECT with status ${response.slice(0, 3)}).`,
    advice: expect.stringContaining(advice),
  })
})

it('ends within its limit when a proxy hangs', async () => {
  const { problem, ms } = await examinedThrough(undefined)
  expect(problem).toMatchObject({ code: 'no_response' })
  // Its limit is 2 s; the rest is the start of a process on a busy machine.
  expect(ms).toBeLessThan(20_000)
})
