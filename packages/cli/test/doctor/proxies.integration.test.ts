import { expect, it } from 'vitest'
import type { Finding } from '../../src/doctor/finding.ts'
import { startTokenwell } from '../tokenwell-process.ts'
import { startRawServer } from './raw-server.ts'

const credentials = { CLIENT_ID: 'demo', CLIENT_SECRET: 'demo' }

async function examinedThrough(response: string | undefined) {
  const { port } = await startRawServer((socket) => {
    socket.once('data', () => response && socket.end(`HTTP/1.1 ${response}\r\ncontent-length: 0\r\n\r\n`))
  })
  const args = ['doctor', '--json', '--timeout', '2', '--token-endpoint', 'https://auth.example.test/token']
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
