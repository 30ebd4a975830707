import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('application/', import.meta.url))
const built = fileURLToPath(new URL('dist/', import.meta.url))
const require = createRequire(import.meta.url)
const isBuilt = ['core', 'axios-interceptor', 'nestjs-module'].every((name) =>
  existsSync(new URL(`../../${name}/dist/index.js`, import.meta.url)),
)

describe.skipIf(!isBuilt)(
  `an application on what is published${isBuilt ? '' : ' (run `pnpm build` first)'}`,
  () => {
    const servers = useTestServers()
    let child: ChildProcess
    afterEach(() => void child?.kill())

    beforeAll(() => {
      const tsc = require.resolve('typescript/package.json').replace('package.json', 'bin/tsc')
      const compile = (format: string, ...options: string[]) =>
        execFileSync(process.execPath, [tsc, '-p', folder, '--outDir', built + format, ...options])
      compile('esm')
      compile('commonjs', '--module', 'commonjs', '--moduleResolution', 'bundler')
      writeFileSync(`${built}commonjs/package.json`, '{ "type": "commonjs" }')
      // A folder with its own package.json cannot import the package that contains it by name.
      const modules = `${built}commonjs/node_modules/@tokenwell`
      rmSync(modules, { recursive: true, force: true })
      mkdirSync(modules, { recursive: true })
      symlinkSync(fileURLToPath(new URL('..', import.meta.url)), `${modules}/nestjs-module`, 'junction')
    })

    describe.each(['esm', 'commonjs'])('as %s', (format) => {
      it.each([11, 12])(
        'starts with NestJS %i, sends requests and exits when it is closed',
        async (version) => {
          const env = {
            ...process.env,
            NEST: String(version),
            TOKEN_ENDPOINT: `${servers.endpoint.origin}/token`,
            CLIENT_ID: 'a-client',
            CLIENT_SECRET: 'a-secret',
            API_URL: servers.api.origin,
          }
          const execArgv = ['--import', `${folder}resolve-nest.mjs`]
          const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
          child = fork(`${built}${format}/main.js`, { execArgv, env, stdio: [...stdio] })
          const said: string[] = []
          child.stdout?.on('data', (text) => said.push(String(text)))
          child.stderr?.on('data', (text) => said.push(String(text)))
          const ended = once(child, 'exit')
          const [{ url, nest }] = await Promise.race([
            once(child, 'message') as Promise<[{ url: string; nest: string }]>,
            ended.then(() => Promise.reject(new Error(`It ended early: ${said.join('')}`))),
          ])
          expect(nest).toContain(`@nestjs+core@${version}.`)

          servers.api.rejects = (token) => token === servers.endpoint.issued[0]
          const responses = await Promise.all(
            [1, 2, 3].map(async () => (await fetch(`${url}/orders`)).json()),
          )
          expect(responses).toStrictEqual(
            responses.map(() => ({ data: { accepted: true }, expiresAt: expect.any(String) })),
          )
          expect(servers.endpoint.issued).toHaveLength(2)

          child.send('close')
          expect(await ended).toStrictEqual([0, null])
          expect(said).toStrictEqual([])
        },
      )
    })
  },
)
