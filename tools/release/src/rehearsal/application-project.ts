import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { chromium } from 'playwright-core'
import semver from 'semver'
import { run } from '../run.ts'
import { type Application, asCommonJs, quickStart, asPage } from './applications.ts'
import type { LocalRegistry } from './local-registry.ts'
import type { Platform } from './platform.ts'
import type { PublishedPackage, Toolbox } from './toolbox.ts'

export interface RehearsalContext {
  readonly registry: LocalRegistry
  readonly toolbox: Toolbox
  readonly platform: Platform
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Creates an application in an empty folder, installs, compiles with each TypeScript and runs with each Node. */
export async function tryApplication(
  application: Application,
  { manifest, readme }: PublishedPackage,
  folder: string,
  context: RehearsalContext,
  say: (step: string) => void,
): Promise<void> {
  const start = quickStart(application.package, readme)
  const { registry, toolbox, platform, signal } = context
  await mkdir(folder, { recursive: true })
  await registry.useIn(folder)
  await writeSources(application, start.code, folder)

  say(`${application.manager} install`)
  const { has = [], requests: expected = [] } = application
  await installPackages(application.manager, [...has, '@types/node@24', ...start.install], folder, signal)

  for (const [version, compiler] of start.language === 'ts' ? toolbox.compilers : []) {
    say(`TypeScript ${version}`)
    await run(process.execPath, [compiler, '-p', '.'], { folder, signal })
  }
  for (const [version, node] of toolbox.nodes) {
    if (!semver.satisfies(version, manifest.engines?.node ?? '*')) continue
    say(`Node ${version}`)
    const path = [join(folder, 'node_modules/.bin'), dirname(node), process.env['PATH']].join(delimiter)
    const given = { ...process.env, PATH: path, ...platform.environment, ...context.environment }
    const requests = await platform.withApi((API_URL) => {
      const options = { folder, signal, timeoutMs: 60_000, environment: { ...given, API_URL } }
      if (start.language === 'ts') return run(node, ['dist/main.js'], options)
      return run('bash', ['-euo', 'pipefail', '-c', start.code], options)
    })
    if (String(requests) !== String(expected)) {
      throw new Error(
        `The API should have received ${said(expected)} with a token, but received ${said(requests)}`,
      )
    }
  }
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
  signal: AbortSignal,
): Promise<void> {
  if (manager === 'npm') {
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { folder, signal })
    await checkTree(folder)
    return
  }
  // pnpm ignores versions published within a day, and looks for a workspace in parent folders.
  await writeFile(join(folder, 'pnpm-workspace.yaml'), 'packages: []\nminimumReleaseAge: 0\n')
  await run('pnpm', ['add', ...packages], { folder, signal })
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
  { manifest, readme }: PublishedPackage,
  folder: string,
  { registry, toolbox, platform, signal }: RehearsalContext,
  say: (step: string) => void,
): Promise<void> {
  const { install, code } = quickStart(manifest.name, readme)
  await mkdir(folder, { recursive: true })
  await registry.useIn(folder)
  const files = {
    'main.ts': asPage(code),
    'index.html': '<!doctype html><title>Rehearsal</title><script type="module" src="/main.ts"></script>',
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)

  say('npm install')
  await run('npm', ['install', '--no-audit', '--no-fund', 'vite', ...install], { folder, signal })
  for (const [version, compiler] of toolbox.compilers) {
    say(`TypeScript ${version}`)
    await run(process.execPath, [compiler, '-p', '.'], { folder, signal })
  }
  say('vite build')
  await run('npx', ['vite', 'build', '--logLevel', 'warn'], { folder, signal })
  if (!hasChromium) return

  say('Chromium')
  const requests = await platform.withApi(open, join(folder, 'dist'))
  if (String(requests) !== 'GET /v1/orders') throw new Error(`The API got ${String(requests) || 'nothing'}`)
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
