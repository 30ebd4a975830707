import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

const program = (options: string) => `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
const { createTokenService } = await import('@tokenwell/token-service')
const server = createTokenService(${options})
await server.inject('/')
await server.close()
console.log(JSON.stringify(loaded.filter((url) => url.includes('/src/portal/'))))
`

async function loadedFiles(options: string): Promise<string[]> {
  const args = [
    '--conditions=@tokenwell/source',
    '--no-warnings',
    '--input-type=module',
    '-e',
    program(options),
  ]
  const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname })
  return (JSON.parse(stdout) as string[]).map((url) => url.split('/src/portal/')[1] ?? '')
}

it('is not loaded by a service without it', async () => {
  expect(await loadedFiles('{}')).toEqual([])
  expect(await loadedFiles('{ portal: true }')).toContain('add-portal.ts')
})
