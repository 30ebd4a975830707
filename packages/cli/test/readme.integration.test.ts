import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { useSandboxedService } from './sandboxed-service.ts'
import { temporaryFolder, command, startProcess } from './tokenwell-process.ts'

const service = useSandboxedService()
const absent = spawnSync('curl', ['--version']).error !== undefined

it.skipIf(absent)(`runs the example in the README${absent ? ' (install curl)' : ''}`, async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, example] = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!)
  const line = command.map((word) => `'${word}'`).join(' ')
  const folder = temporaryFolder({ tokenwell: '' })
  writeFileSync(`${folder}/tokenwell`, `#!/bin/sh\nexec ${line} "$@"\n`)
  const api = await startScriptedServer(() => json({ orders: [] }))
  onTestFinished(() => api.close())

  const run = startProcess(['/bin/sh', '-ec', `chmod +x '${folder}/tokenwell'\n${example}`], {
    ...service.environmentOf('demo'),
    API_URL: api.origin,
    PATH: `${folder}:${process.env['PATH']}`,
  })
  expect((await run.ended).code).toBe(0)
  expect(run.written.stdout).toMatch(/\[token\]\n.*\{"orders":\[\]\}$/s)
  const [request] = api.requests
  expect(request).toMatchObject({ method: 'GET', url: '/v1/orders' })
  expect(request?.headers.authorization).toMatch(/^Bearer [\w-]{40,}$/)
})
