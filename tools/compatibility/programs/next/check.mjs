// `next build` twice, with its cache, after the token expired; then the server, with an environment that the build did not have.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const { PLATFORM, ...environment } = process.env
const site = fileURLToPath(new URL('site/', import.meta.url))
const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

rmSync(`${site}.next`, { recursive: true, force: true })
await fetch(`${PLATFORM}/settings`, { method: 'POST', body: JSON.stringify({ lifetimeSeconds: 2 }) })
await build('1')
await delay(2000)
await build('2')
await checkServer()

async function build(BUILD) {
  const env = { ...environment, PLATFORM, BUILD, NEXT_TELEMETRY_DISABLED: '1' }
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: site, env })
}

async function checkServer() {
  const env = {
    ...environment,
    PLATFORM,
    BUILD: '2',
    RUNTIME_PLATFORM: `${PLATFORM}-runtime`,
    RUNTIME_CLIENT_SECRET: 'secret',
    NEXT_TELEMETRY_DISABLED: '1',
  }
  const server = spawn(process.execPath, [next, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
    cwd: site,
    env,
  })
  try {
    const url = await new Promise((resolve, reject) => {
      let output = ''
      server.stdout.on('data', (part) => {
        output += part
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
        if (found && output.includes('Ready')) resolve(found)
      })
      server.on('exit', () => reject(new Error(`next start ended: ${output}`)))
    })
    for (const [path, expected] of [
      ['/', '/api/build-2'],
      ['/runtime', '/api/runtime'],
    ]) {
      const response = await fetch(url + path)
      const text = await response.text()
      assert.equal(response.status, 200, text)
      assert.ok(text.includes(expected), text)
    }
  } finally {
    server.kill()
  }
}
