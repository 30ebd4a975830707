import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

const program = (options: string, path: string) => `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
const { createTokenService } = await import('@tokenwell/token-service')
const server = createTokenService(${options})
await server.inject('${path}')
await server.close()
console.log(JSON.stringify(loaded.filter((url) => url.includes('/src/portal/') || url.includes('/openid-client/'))))
`

async function loadedFiles(options: string, path = '/'): Promise<string[]> {
  const args = [
    '--conditions=@tokenwell/source',
    '--no-warnings',
    '--input-type=module',
    '-e',
    program(options, path),
  ]
  const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname })
  return (JSON.parse(stdout) as string[]).map((url) => url.split('/src/portal/')[1] ?? url)
}

it('is not loaded by a service without it', async () => {
  expect(await loadedFiles('{}')).toEqual([])
  expect(await loadedFiles('{ portal: true }')).toContain('page-routes.ts')
})

it('loads the client of an OpenID provider when somebody logs in through it', async () => {
  const openidProvider = `{
    name: 'Example ID', issuer: 'http://127.0.0.1:1', clientId: 'a', clientSecret: 'b', developerGroups: '*'
  }`
  const withClient = async (path?: string) => {
    const loaded = await loadedFiles(`{ portal: true, openidProvider: ${openidProvider} }`, path)
    return loaded.some((file) => file.includes('openid-client'))
  }
  expect([await withClient('/portal/log-in'), await withClient('/portal/log-in/openid')]).toEqual([
    false,
    true,
  ])
})
