import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPlatform } from '../../../examples/run/platform.ts'
import type { LocalRegistry } from '../../release/src/local-registry.ts'
import { projectFolder } from '../../release/src/public-packages.ts'
import { run } from '../../run-process.ts'

/** A project that somebody else's generator creates, to which the lines of the documentation are added. */
export interface GeneratedProject {
  readonly title: string
  /** Arguments of npx; the generator creates the folder `app`. */
  readonly generator: readonly string[]
  /** Where the command that installs Tokenwell is: the page, and a part of the line. */
  readonly install: readonly [page: string, line: RegExp]
  readonly addLines: (app: string) => Promise<void>
  /** Commands to run, after which `serve` is started, if it is there. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[]
  /** Runs the commands without the variables of the environment first: a build may lack them. */
  readonly withoutEnvironment?: boolean
  /** The server, and the path of a page that calls the API. */
  readonly serve?: { readonly command: readonly string[]; readonly path: string }
}

const readPage = (page: string) => readFile(join(projectFolder, 'docs', page), 'utf8')

/** The code that a page shows for a file. */
async function shownFile(page: string, file: string): Promise<string> {
  const text = await readPage(page)
  const code = text.split(`[${file}]\n`)[1]?.split('\n```')[0]
  if (code === undefined) throw new Error(`docs/${page} does not show ${file}`)
  return `${code}\n`
}

/** A client of the example application, which must compile unchanged where somebody copies it. */
async function copyExample(client: string, to: string) {
  await cp(join(projectFolder, 'apps/speech-to-text/src', client), to, { recursive: true })
}

async function change(file: string, ...changes: readonly (readonly [from: string, to: string])[]) {
  let text = await readFile(file, 'utf8')
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} does not contain "${from}"`)
    text = text.replace(from, () => to)
  }
  await writeFile(file, text)
}

function nest(major: number, ending: string, install: RegExp): GeneratedProject {
  const page = 'adapters/nestjs.md'
  return {
    title: `NestJS ${major}`,
    generator: [`@nestjs/cli@${major}`, 'new', 'app', '--package-manager', 'npm', '--skip-git'],
    install: [page, install],
    async addLines(app) {
      const shown = await shownFile(page, 'src/app.module.ts')
      const imports = shown.split('\n').filter((line) => /^import .*(?:config|tokenwell)/.test(line))
      const modules = /imports: \[\n.*?\n {2}\],/s.exec(shown)![0]
      await change(
        join(app, 'src/app.module.ts'),
        [
          'import',
          `${imports.join('\n')}\nimport { OrdersService } from './orders.service${ending}'\nimport`,
        ],
        ['imports: [],', modules],
        ['providers: [', 'providers: [OrdersService, '],
      )
      await change(
        join(app, 'src/app.controller.ts'),
        [
          'import',
          `import { HttpService } from '@nestjs/axios'\nimport { Optional } from '@nestjs/common'\nimport`,
        ],
        ['constructor(', 'constructor(@Optional() private readonly http: HttpService, '],
        [
          '  @Get()',
          `  @Get('orders')\n  async orders() {\n    return (await this.http.axiosRef.get('/v1/orders')).data\n  }\n\n  @Get()`,
        ],
      )
      for (const file of ['src/orders.service.ts', 'src/tokens.spec.ts'])
        await writeFile(join(app, file), await shownFile(page, file))
      await copyExample('nest', join(app, 'src/speech'))
    },
    commands: [
      ['npm', 'install', `@nestjs/terminus@${major}`],
      ['npm', 'run', 'build'],
      ['npm', 'test'],
      ['npm', 'run', 'test:e2e'],
    ],
    serve: { command: ['dist/main.js'], path: '/orders' },
  }
}

const next: GeneratedProject = {
  title: 'Next.js 16 with Cache Components',
  // Its usual template loads fonts from the network while it is built.
  generator: ['create-next-app@16', 'app', '--empty', '--ts', '--app', '--use-npm', '--yes', '--disable-git'],
  install: ['frameworks/nextjs.md', /core$/],
  async addLines(app) {
    const page = 'frameworks/nextjs.md'
    await change(join(app, 'next.config.ts'), ['cacheComponents: true', 'cacheComponents: true'])
    for (const folder of ['lib', 'app/api/orders', 'app/orders'])
      await mkdir(join(app, folder), { recursive: true })
    await writeFile(join(app, 'lib/api.ts'), `import 'server-only'\n${await shownFile(page, 'lib/api.ts')}`)
    const route = await shownFile(page, 'app/api/orders/route.ts')
    await writeFile(
      join(app, 'app/api/orders/route.ts'),
      `import { apiFetch } from '../../../lib/api'\n${route}`,
    )
    await writeFile(join(app, 'app/orders/page.tsx'), await shownFile(page, 'app/orders/page.tsx'))
  },
  commands: [['npm', 'run', 'build']],
  withoutEnvironment: true,
  serve: { command: ['node_modules/next/dist/bin/next', 'start'], path: '/orders' },
}

const vite: GeneratedProject = {
  title: 'Vite',
  generator: ['create-vite@latest', 'app', '--template', 'vanilla-ts', '--no-interactive'],
  install: ['start.md', /core$/],
  async addLines(app) {
    const text = await readPage('frontend.md')
    const code = /```ts\n(import \{ backendTokens.*?)```/s.exec(text)![1]!
    await writeFile(
      join(app, 'src/main.ts'),
      `const apiUrl = location.origin\n${code}document.body.textContent = await response.text()\n`,
    )
    for (const client of ['fetch', 'axios', 'ky']) await copyExample(client, join(app, 'src', client))
  },
  commands: [
    ['npm', 'install', '@tokenwell/axios-interceptor', '@tokenwell/ky-hook', 'axios', 'ky'],
    ['npm', 'run', 'build'],
  ],
}

const double = `it('uses the test provider', async () => {
  const tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
  expect((await tokens.getToken()).value).toBe('first')
  tokens.expire()
  tokens.error = new TokenError({ kind: 'unavailable', message: 'No connection.' })
  await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
})
`

const contract = 'for (const { title, run } of tokenStoreTests(createMemoryTokenStore)) it(title, run)\n'

function runner(name: 'jest' | 'vitest', major: number): GeneratedProject {
  const code =
    name === 'jest'
      ? `const { createMemoryTokenStore, TokenError } = require('@tokenwell/core')
const { createTestTokenProvider, tokenStoreTests } = require('@tokenwell/core/testing')
${double}
${contract}`
      : `import { createMemoryTokenStore, TokenError } from '@tokenwell/core'
import { createTestTokenProvider, tokenStoreTests } from '@tokenwell/core/testing'
import { expect, it } from 'vitest'
${contract}${double}`
  return {
    title: `${name} ${major}`,
    generator: [],
    install: ['start.md', /core$/],
    async addLines(app) {
      await writeFile(join(app, name === 'jest' ? 'orders.test.js' : 'orders.test.mjs'), code)
    },
    commands: [
      ['npm', 'install', '--save-dev', `${name}@${major}`],
      ['npx', name, ...(name === 'vitest' ? ['run'] : [])],
    ],
  }
}

/** An application with tests that it had before it used Tokenwell: each mocks its API in another way. */
const existing: Readonly<Record<string, string>> = {
  'src/orders.js': `import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenFetch } from '@tokenwell/core'
import axios from 'axios'
import { tokens } from './tokens'
export const apiUrl = 'https://api.example.com'
export const api = axios.create({ baseURL: apiUrl })
attachTokens(api, tokens)
const apiFetch = createTokenFetch(tokens, { baseUrl: apiUrl })
export const listOrders = async () => (await api.get('/orders')).data
export const fetchOrders = async () => (await apiFetch('/orders')).json()
`,
  'test/nock.test.js': `import nock from 'nock'
import { fetchOrders, listOrders } from '../src/orders'
it('mocks with nock', async () => {
  nock('https://api.example.com', { reqheaders: { authorization: 'Bearer test-token' } }).get('/orders').twice().reply(200, ['tea'])
  expect(await listOrders()).toEqual(['tea'])
  expect(await fetchOrders()).toEqual(['tea'])
})
`,
  'test/msw.test.js': `import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { fetchOrders } from '../src/orders'
const received = []
const server = setupServer(
  http.get('https://api.example.com/orders', ({ request }) => {
    const status = received.push(request.headers.get('authorization')) === 1 ? 401 : 200
    return HttpResponse.json(['tea'], { status })
  }),
)
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterAll(() => server.close())
it('mocks with MSW', async () => {
  expect(await fetchOrders()).toEqual(['tea'])
  expect(received).toEqual(['Bearer test-token', 'Bearer test-token-2'])
})
`,
  'test/axios-mock-adapter.test.js': `import MockAdapter from 'axios-mock-adapter'
import { api, listOrders } from '../src/orders'
it('mocks with axios-mock-adapter', async () => {
  new MockAdapter(api).onGet('/orders').replyOnce(401).onGet('/orders').reply(200, ['tea'])
  expect(await listOrders()).toEqual(['tea'])
})
`,
  'test/mocked-axios.test.js': `import { listOrders } from '../src/orders'
vi.mock('@tokenwell/axios-interceptor')
vi.mock('axios', () => {
  const axios = { create: () => ({ get: async () => ({ data: ['tea'] }) }) }
  return { ...axios, default: axios }
})
it('mocks axios', async () => {
  expect(await listOrders()).toEqual(['tea'])
})
`,
}

/** Our modules as Jest loads them by default. */
const toCommonJs = (code: string) =>
  code
    .replaceAll(/^import (.+) from (.+)$/gm, 'const $1 = require($2)')
    .replaceAll(/^export const (\w+)/gm, 'const $1 = exports.$1')
    .replaceAll('vi.mock', 'jest.mock')

function existingTests(name: 'jest' | 'vitest', major: number): GeneratedProject {
  const isJest = name === 'jest'
  return {
    title: `Existing tests in ${name} ${major}`,
    generator: [],
    install: ['adapters/axios.md', /axios-interceptor/],
    async addLines(app) {
      for (const folder of ['src', 'test']) await mkdir(join(app, folder))
      const extension = isJest ? 'js' : 'ts'
      const forTests = await shownFile('testing.md', 'test/tokens.ts')
      for (const [file, code] of Object.entries({ ...existing, [`test/tokens.${extension}`]: forTests }))
        await writeFile(join(app, file), isJest ? toCommonJs(code) : code)
      const tokens = await shownFile('testing.md', 'src/tokens.ts')
      const setup = `test/setup.${extension}`
      await writeFile(join(app, setup), await shownFile('testing.md', setup))
      // Jest finds no types without a transform; the file is replaced anyway.
      await writeFile(join(app, `src/tokens.${extension}`), isJest ? '' : tokens)
      await writeFile(
        join(app, isJest ? 'jest.config.js' : 'vitest.config.mjs'),
        isJest
          ? `module.exports = { setupFilesAfterEnv: ['./${setup}'] }`
          : `export default { test: { globals: true, setupFiles: ['${setup}'] } }`,
      )
    },
    commands: [
      ['npm', 'install', '--save-dev', `${name}@${major}`, 'nock@14', 'msw@2', 'axios-mock-adapter@2'],
      // MSW is an ES module, which Jest requires with this option alone.
      isJest ? ['node', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'] : ['npx', name, 'run'],
    ],
  }
}

export const generatedProjects: readonly GeneratedProject[] = [
  nest(11, '', /@nestjs\/axios@4/),
  nest(12, '.js', /@nestjs\/config$/),
  next,
  vite,
  ...[29, 30].map((major) => runner('jest', major)),
  ...[3, 4, 5].map((major) => runner('vitest', major)),
  existingTests('jest', 30),
  ...[3, 4, 5].map((major) => existingTests('vitest', major)),
]

/** Generates a project, adds the lines of the documentation, and runs its own build, tests and server. */
export async function tryGeneratedProject(
  project: GeneratedProject,
  folder: string,
  registry: LocalRegistry,
  say: (step: string) => void,
): Promise<void> {
  const app = join(folder, 'app')
  await mkdir(app, { recursive: true })
  const base = {
    ...process.env,
    npm_config_registry: registry.url,
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    CI: 'true',
  }
  const step = (environment: NodeJS.ProcessEnv, at: string, [program, ...args]: readonly string[]) => {
    say([program, ...args].join(' ').slice(0, 60))
    return run(program!, args, { folder: at, environment, timeoutMs: 900_000 })
  }

  if (project.generator.length > 0) {
    await rm(app, { recursive: true })
    await step(base, folder, ['npx', '--yes', ...project.generator])
  } else {
    await step(base, app, ['npm', 'init', '--yes'])
  }
  const [page, line] = project.install
  const commands = (await readPage(page)).matchAll(/^npm install .+$/gm)
  const install = [...commands].find(([command]) => line.test(command))
  if (install === undefined) throw new Error(`docs/${page} has no command like ${String(line)}`)
  await step(base, app, install[0].split(' '))
  await project.addLines(app)

  const platform = await startPlatform()
  try {
    const environment = { ...base, ...platform.environment }
    for (const given of project.withoutEnvironment ? [base, environment] : [environment])
      for (const command of project.commands) await step(given, app, command)
    if (project.serve) await callServer(project.serve, app, environment)
    const accepted = platform.requests.some(({ url, status }) => url === '/v1/orders' && status === 200)
    if (project.serve && !accepted) throw new Error('The API received no request with a token')
  } finally {
    await platform.close()
  }
}

async function callServer(
  { command, path }: NonNullable<GeneratedProject['serve']>,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const PORT = String(20_000 + Math.floor(Math.random() * 20_000))
  const server = spawn(process.execPath, command, { cwd: folder, env: { ...environment, PORT } })
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    const deadline = Date.now() + 60_000
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${PORT}${path}`).catch(() => undefined)
      await response?.text()
      if (response?.ok) return
      if (response || Date.now() > deadline)
        throw new Error(`The server responded with ${response?.status ?? 'nothing'}\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  } finally {
    server.kill()
  }
}
