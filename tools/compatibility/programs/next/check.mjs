// `next build` twice, with its cache, after the token expired; then the server, with an environment that the build did not have.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const { env: environment } = process
const site = fileURLToPath(new URL('site/', import.meta.url))
const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

rmSync(`${site}.next`, { recursive: true, force: true })
await build('1')
await delay(2000)
await build('2')
await checkServer()

async function build(BUILD) {
  const env = { ...environment, BUILD }
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: site, env })
}

async function checkServer() {
  const env = {
    ...environment,
    BUILD: '2',
    RUNTIME_AUTH_URL: environment.AUTH_URL,
    RUNTIME_API_URL: environment.API_URL,
    RUNTIME_CLIENT_SECRET: environment.CLIENT_SECRET,
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
      ['/', 'build-2: tea'],
      ['/runtime', '"item":"tea"'],
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
