import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { checkProxy } from '../../src/doctor/check-proxy.ts'
import { startRawServer } from './raw-server.ts'

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
  expect(checked.used).toBe(used !== false)
  if (used) expect(checked.finding?.message).toContain(`the proxy set in ${used}.`)
})
