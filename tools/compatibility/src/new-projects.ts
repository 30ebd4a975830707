// What the READMEs say, in new projects: on every Node and TypeScript that is supported, and in pages bundled by Vite.
import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { delimiter, dirname, join } from 'node:path'
import { chromium } from 'playwright-core'
import semver from 'semver'
import { startPlatform, type Handler } from '../../../examples/run/platform.ts'
import type { LocalRegistry } from '../../release/src/local-registry.ts'
import { publicPackages } from '../../release/src/public-packages.ts'
import { run } from '../../run-process.ts'

/** What all new projects use. */
export interface ProjectContext {
  readonly registry: LocalRegistry
  readonly toolbox: Toolbox
  /** Of a Redis, if it is installed. */
  readonly redisUrl: string | undefined
}

/** The oldest version in `engines`, and the newest of each maintained line. */
const nodeVersions = ['20.19.0', '22.12.0', '22.13.0', '22', '24', '26']
const typescriptVersions = ['5.9', '6', '7']

interface Toolbox {
  /** By exact version. */
  readonly nodes: ReadonlyMap<string, string>
  readonly compilers: ReadonlyMap<string, string>
}

/** Installs several versions of Node and TypeScript, both from the npm registry, side by side. */
export async function fillToolbox(folder: string): Promise<Toolbox> {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`
  const dependencies = {
    ...Object.fromEntries(nodeVersions.map((version) => [`node-${version}`, `npm:${name}@${version}`])),
    ...Object.fromEntries(
      typescriptVersions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
    ),
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { folder })
  const modules = join(folder, 'node_modules')
  const nodes = new Map<string, string>()
  for (const version of nodeVersions) {
    const program = join(
      modules,
      `node-${version}`,
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    )
    nodes.set((await run(program, ['--version'], { folder })).trim().slice(1), program)
  }
  const compilers = typescriptVersions.map(
    (version) => [version, join(modules, `typescript-${version}`, 'bin/tsc')] as const,
  )
  return { nodes, compilers: new Map(compilers) }
}

/** An application to which a user adds a package, following its README. */
export interface Application {
  readonly title: string
  readonly package: string
  readonly manager: 'npm' | 'pnpm'
  readonly module: 'ES modules' | 'CommonJS'
  /** The existing dependencies of the application. */
  readonly has?: readonly string[]
  /** Code after the quick start, in the same file. */
  readonly afterwards?: string
  /** A separate entry, which imports the quick start. */
  readonly entry?: string
  /** Requests that must reach the API. */
  readonly requests?: readonly string[]
}

const orders = ['GET /v1/orders 200']

const nestEntry = `import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Controller, Get, Inject, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { firstValueFrom } from 'rxjs'
import { AppModule } from './quick-start.js'

@Controller()
class OrdersController {
  private readonly http: HttpService
  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http
  }
  @Get('orders')
  async orders(): Promise<unknown> {
    return (await firstValueFrom(this.http.get('/v1/orders'))).data
  }
}
Module({ controllers: [OrdersController] })(AppModule)

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'], abortOnError: false })
  await app.listen(0, '127.0.0.1')
  const { status } = await fetch(\`\${await app.getUrl()}/orders\`)
  await app.close()
  if (status !== 200) throw new Error(\`The application responded \${status}\`)
}
void main()
`

const nest = (major: number) => ({
  has: [
    ...['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${major}`),
    'reflect-metadata',
    'rxjs',
  ],
  entry: nestEntry,
  requests: orders,
})

const particulars: Record<string, Partial<Application>> = {
  '@tokenwell/core': { requests: orders },
  '@tokenwell/axios-interceptor': { requests: orders },
  '@tokenwell/ky-hook': { requests: orders },
  '@tokenwell/resource-server': { has: ['express', '@types/express'] },
  tokenwell: { requests: orders },
  '@tokenwell/nestjs-module': nest(12),
  '@tokenwell/token-stores': { afterwards: 'await tokens.getToken()\nclient.destroy()\n' },
}

/** Each package as an ES module installed by npm and as CommonJS installed by pnpm, and some special cases. */
export function applications(): Application[] {
  const names = publicPackages().map(({ manifest }) => manifest.name)
  const name = (full: string) => full.replace(/^.*\//, '')
  return [
    ...names.flatMap((full): Application[] => [
      { title: name(full), package: full, manager: 'npm', module: 'ES modules', ...particulars[full] },
      { title: name(full), package: full, manager: 'pnpm', module: 'CommonJS', ...particulars[full] },
    ]),
    {
      title: 'nestjs-module in NestJS 11',
      package: '@tokenwell/nestjs-module',
      manager: 'npm',
      module: 'CommonJS',
      ...nest(11),
    },
  ]
}

/** The commands and the code of a README's quick start. */
interface QuickStart {
  readonly install: readonly string[]
  readonly language: 'ts' | 'sh'
  readonly code: string
}

/** The first block of TypeScript, or else the block of shell commands after the installation. */
function quickStart(name: string, readme: string): QuickStart {
  const install = /^npm install (.+)$/m.exec(readme)?.[1]
  const typescript = /```ts\n(.*?)```/s.exec(readme)?.[1]
  const code = typescript ?? [...readme.matchAll(/```sh\n(.*?)```/gs)][1]?.[1]
  if (install === undefined || code === undefined) {
    throw new Error(`The README of ${name} needs a line "npm install …" and an example after it`)
  }
  const words = install.split(' ').filter((word) => !word.startsWith('-'))
  return { install: words, language: typescript === undefined ? 'sh' : 'ts', code }
}

/** CommonJS does not support `await` outside of functions. */
function asCommonJs(code: string): string {
  if (!/^(?!\s|.*=>).*\bawait /m.test(code)) return code
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const rest = lines.filter((line) => !line.startsWith('import ')).map((line) => line.replace(/^export /, ''))
  return [...imports, 'void (async () => {', ...rest, '})()', ''].join('\n')
}

/** In a page, tokens come from its own backend, as the READMEs recommend. */
function asPage(code: string): string {
  return code
    .replaceAll('clientCredentials(credentialsFrom(process.env))', `backendTokens({ url: '/token' })`)
    .replaceAll(/\bclientCredentials\b/g, 'backendTokens')
    .replace(', credentialsFrom }', ' }')
    .replaceAll('process.env.API_URL', 'location.origin')
}

/** Creates an application in an empty folder, installs, compiles with each TypeScript and runs with each Node. */
export async function tryApplication(
  application: Application,
  folder: string,
  { registry, toolbox, redisUrl }: ProjectContext,
  say: (step: string) => void,
): Promise<void> {
  const { start, supported } = packageOf(application.package)
  await mkdir(folder, { recursive: true })
  await registry.useIn(folder)
  await writeSources(application, start.code, folder)

  say(`${application.manager} install`)
  const { has = [], requests: expected = [] } = application
  await installPackages(application.manager, [...has, '@types/node@24', ...start.install], folder)

  for (const [version, compiler] of start.language === 'ts' ? toolbox.compilers : []) {
    say(`TypeScript ${version}`)
    await run(process.execPath, [compiler, '-p', '.'], { folder })
  }
  const platform = await startPlatform()
  try {
    for (const [version, node] of toolbox.nodes) {
      if (!semver.satisfies(version, supported)) continue
      say(`Node ${version}`)
      const environment = {
        ...process.env,
        ...platform.environment,
        PATH: [join(folder, 'node_modules/.bin'), dirname(node), process.env['PATH']].join(delimiter),
        TOKEN_KEY: randomBytes(32).toString('base64'),
        REDIS_URL: redisUrl,
      }
      const seen = platform.requests.length
      const options = { folder, timeoutMs: 60_000, environment }
      if (start.language === 'ts') await run(node, ['dist/main.js'], options)
      else await run('bash', ['-euo', 'pipefail', '-c', start.code], options)
      const accepted = platform.requests
        .slice(seen)
        .map(({ method, url, status }) => `${method} ${url} ${status}`)
      if (String(accepted) !== String(expected))
        throw new Error(`The API should have received ${said(expected)}, but received ${said(accepted)}`)
    }
  } finally {
    await platform.close()
  }
}

/** What the README of a package says, and the versions of Node that it is for. */
function packageOf(name: string): { readonly start: QuickStart; readonly supported: string } {
  const { folder, manifest } = publicPackages().find((each) => each.manifest.name === name)!
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  return { start: quickStart(name, readme), supported: manifest.engines?.node ?? '*' }
}

async function writeSources(
  { module, afterwards, entry }: Application,
  code: string,
  folder: string,
): Promise<void> {
  const whole = afterwards === undefined ? code : `${code}\n${afterwards}`
  const example = module === 'CommonJS' ? asCommonJs(whole) : whole
  const sources =
    entry === undefined ? { 'main.ts': example } : { 'main.ts': entry, 'quick-start.ts': example }
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text)
  const type = module === 'CommonJS' ? 'commonjs' : 'module'
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type }))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    experimentalDecorators: true,
    outDir: 'dist',
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
}

async function installPackages(
  manager: 'npm' | 'pnpm',
  packages: readonly string[],
  folder: string,
): Promise<void> {
  if (manager === 'npm') {
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { folder })
    await checkTree(folder)
    return
  }
  // pnpm ignores versions published within a day, and looks for a workspace in parent folders.
  await writeFile(join(folder, 'pnpm-workspace.yaml'), 'packages: []\nminimumReleaseAge: 0\n')
  await run('pnpm', ['add', ...packages], { folder })
}

/** No install scripts run, and each of our packages is installed once. */
async function checkTree(folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Record<string, { readonly hasInstallScript?: boolean }>
  }
  const paths = Object.keys(lock.packages)
  const scripted = paths.filter((path) => lock.packages[path]?.hasInstallScript)
  if (scripted.length > 0)
    throw new Error(`These run scripts while they are installed: ${scripted.join(', ')}`)
  const twice = paths.filter((path) => /node_modules\/.*\/node_modules\/@tokenwell\//.test(path))
  if (twice.length > 0) throw new Error(`These are installed twice: ${twice.join(', ')}`)
}

function said(requests: readonly string[]): string {
  return requests.length > 0 ? requests.join(', ') : 'none'
}

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** Whether pages can be opened here; they are built in any case. */
export const hasChromium = existsSync(executablePath)

/** Creates a page in an empty folder, bundles it with Vite and opens it. */
export async function tryPage(
  name: string,
  folder: string,
  { registry, toolbox }: ProjectContext,
  say: (step: string) => void,
): Promise<void> {
  const { install, code } = packageOf(name).start
  await mkdir(folder, { recursive: true })
  await registry.useIn(folder)
  const files = {
    'main.ts': asPage(code),
    'index.html': '<!doctype html><title>Rehearsal</title><script type="module" src="/main.ts"></script>',
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
  }
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)

  say('npm install')
  await run('npm', ['install', '--no-audit', '--no-fund', 'vite', ...install], { folder })
  for (const [version, compiler] of toolbox.compilers) {
    say(`TypeScript ${version}`)
    await run(process.execPath, [compiler, '-p', '.'], { folder })
  }
  say('vite build')
  await run('npx', ['vite', 'build', '--logLevel', 'warn'], { folder })
  if (!hasChromium) return

  say('Chromium')
  const platform = await startPlatform({ open: serveFrom(join(folder, 'dist'), () => platform.environment) })
  try {
    await open(platform.environment['API_URL']!)
    const requests = platform.requests.map(({ method, url, status }) => `${method} ${url} ${status}`)
    if (String(requests) !== String(orders)) throw new Error(`The API received ${said(requests)}`)
  } finally {
    await platform.close()
  }
}

/** The backend of a page: its files, and a route for its tokens. */
function serveFrom(folder: string, environment: () => Readonly<Record<string, string>>): Handler {
  return ({ method, url = '' }, response) => {
    if (method === 'POST') return sendToken(environment(), response)
    if (url.startsWith('/v1/')) return false
    const file = join(folder, url === '/' ? 'index.html' : url)
    const type = file.endsWith('.js') ? 'text/javascript' : 'text/html'
    if (existsSync(file)) createReadStream(file).pipe(response.writeHead(200, { 'content-type': type }))
    else response.writeHead(404).end()
    return Promise.resolve()
  }
}

async function sendToken(environment: Readonly<Record<string, string>>, response: ServerResponse) {
  const { AUTH_URL = '', CLIENT_ID = '', CLIENT_SECRET = '' } = environment
  const url = `${AUTH_URL}/oauth/client_credential/accesstoken?grant_type=client_credentials`
  const body = new URLSearchParams({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET })
  response.end(await (await fetch(url, { method: 'POST', body })).text())
}

/** The settings of Vite's template for TypeScript, except `skipLibCheck`. */
const compilerOptions = {
  target: 'es2022',
  module: 'esnext',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: ['vite/client'],
  skipLibCheck: false,
  moduleResolution: 'bundler',
  verbatimModuleSyntax: true,
  moduleDetection: 'force',
  noEmit: true,
  strict: true,
}

async function open(address: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  })
  try {
    const page = await browser.newPage()
    const failed = new Promise((_, reject) => page.once('pageerror', reject))
    const responded = page.waitForResponse((response) => response.url().includes('/v1/'), {
      timeout: 20_000,
    })
    await page.goto(address)
    await Promise.race([responded, failed])
  } finally {
    await browser.close()
  }
}
