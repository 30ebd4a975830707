import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { run } from '../run.ts'
import type { RehearsalContext } from './application-project.ts'
import type { PublishedPackage } from './published-package.ts'
import { asPage, quickStart } from './quick-start.ts'

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
