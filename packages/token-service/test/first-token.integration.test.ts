import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const program = `
const { createRequire } = await import('node:module')
const { startTokenService } = await import(process.argv[1])
const applications = [{ name: 'demo', clientId: 'id', clientSecret: 'secret' }]
const service = await startTokenService({ applications, sandbox: true })
const isLoaded = () => Object.keys(createRequire(process.argv[1]).cache).some((file) => file.includes('/fastify/'))
const statuses = []
const send = async (path, options) => statuses.push((await fetch(service.authUrl + path, options)).status, isLoaded())
const body = new URLSearchParams({ client_id: 'id', client_secret: 'secret' })
await send('/oauth/client_credential/accesstoken?grant_type=client_credentials', { method: 'POST', body })
await send('/healthz')
await service.close()
console.log(JSON.stringify(statuses))`

it('issues tokens without loading Fastify, even in a sandbox', { timeout: 60_000 }, async () => {
  const module = fileURLToPath(new URL('../src/index.ts', import.meta.url))
  const args = ['--conditions=@tokenwell/source', '--input-type=module', '--eval', program, module]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(JSON.parse(stdout)).toEqual([200, false, 200, true])
})
