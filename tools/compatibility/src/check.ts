// `pnpm check:compatibility [--full] [PART OF A TITLE]`: runs other people's programs with the packed packages.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Listr, PRESET_TIMER, type ListrTask } from 'listr2'
import { generateNest } from './nest/generate-nest.ts'
import { startPlatform } from './platform.ts'
import { run } from './run.ts'

const programs = fileURLToPath(new URL('../programs/', import.meta.url))
const [only = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const full = process.argv.includes('--full')
const current = process.versions.node.split('.')[0]!
const nodes = new Map([[current, process.execPath]])
const platform = await startPlatform()

/** Runs commands one after another, each `[file, ...arguments]`, in a folder of `programs`. */
function program(title: string, folder: string, ...commands: (readonly string[])[]): ListrTask {
  return {
    title,
    task: async () => {
      for (const command of commands) await runIn(folder, title, command)
    },
  }
}

function runIn(folder: string, title: string, [file, ...args]: readonly string[], node = process.execPath) {
  const PLATFORM = `${platform.origin}/${title.toLowerCase().replaceAll(/\W+/g, '-')}`
  const isScript = /\.[cm]?[jt]s$/.test(file!)
  return run(isScript ? node : join(programs, folder, file!), isScript ? [file!, ...args] : args, {
    folder: join(programs, folder),
    environment: { PLATFORM, NEXT_TELEMETRY_DISABLED: '1' },
  })
}

const versions = ['20', '22', '24', '26'] as const

const onNodes = (
  title: string,
  folder: string,
  command: readonly string[],
  supported: readonly string[] = versions,
): ListrTask[] =>
  supported.map((version) => ({
    title: `${title}, Node ${version}`,
    task: async () => {
      await runIn(folder, `${title} ${version}`, command, nodes.get(version))
    },
  }))

/** The configurations of Jest that the documentation shows, for `programs/load/jest.config.js`. */
function writeDocumentedConfigurations(): void {
  const page = readFileSync(new URL('../../../docs/modules.md', import.meta.url), 'utf8')
  const folder = join(programs, 'load/app')
  mkdirSync(folder, { recursive: true })
  for (const [, name, code] of page.matchAll(/^```js \[(.+?)\]\n(.*?)^```$/gms))
    writeFileSync(join(folder, `${name}.js`), code!)
}
writeDocumentedConfigurations()

const jest = 'node_modules/jest/bin/jest.js'
const inApp = (name: string) => `../node_modules/${name}`

function nest(major: number, unit: readonly string[], e2e: readonly string[]): ListrTask {
  const name = `nest-${major}`
  return {
    title: `NestJS ${major}: its generated project`,
    task: async () => {
      await generateNest(name)
      const compile = [inApp('typescript/bin/tsc'), '-p', 'tsconfig.build.json']
      for (const [file, ...args] of [compile, unit, e2e]) {
        await run(process.execPath, [file!, ...args], {
          folder: join(programs, name, 'app'),
          environment: { PLATFORM: `${platform.origin}/${name}` },
        })
      }
    },
  }
}

const all: ListrTask[] = [
  program('TypeScript 5.4, 5.9, 6 and 7', 'types', ['check.js', ...(full ? ['--full'] : [])]),
  program('Next: two builds with its cache, and its server', 'next', ['check.mjs']),
  program('Bundlers, for Node and for Chromium', 'bundles', ['check.js']),
  ...onNodes('Jest in CommonJS: JavaScript, ts-jest, SWC', 'load', [jest]),
  nest(11, [inApp('jest/bin/jest.js')], [inApp('jest/bin/jest.js'), '--config', 'test/jest-e2e.json']),
  nest(
    12,
    [inApp('vitest/vitest.mjs'), 'run'],
    [inApp('vitest/vitest.mjs'), 'run', '--config', 'vitest.config.e2e.ts'],
  ),
  program('NestJS 10.0: every transport', 'nest-transports-lowest', ['../nest-transports/check.cjs']),
  program('NestJS 10.0 and axios 1.7: the adapter suite', 'nest-transports-lowest', [
    'node_modules/vitest/vitest.mjs',
    'run',
    'adapter.test.mjs',
  ]),
  program('NestJS 12: every transport', 'nest-transports-newest', ['../nest-transports/check.cjs']),
  ...onNodes('One copy of require and import', 'load', ['one-copy.cjs']),
  program('One copy of require and import, Bun', 'load', ['node_modules/.bin/bun', 'one-copy.cjs']),
  program(
    'One copy of require and import, Deno',
    'load',
    // Deno 2.9 hangs when the first load of such an ES module is by `require`.
    ['node_modules/.bin/deno', 'eval', "await import('@tokenwell/nestjs-module/axios')"],
    ['node_modules/.bin/deno', 'run', '-A', 'one-copy.cjs'],
  ),
  program('Jest in ES modules', 'load', ['jest-esm.js']),
  program('Revoked tokens in clients of HTTP, GraphQL, OpenAI and MCP', 'clients', ['check.js']),
  program('An identity by the SDK of AWS', 'clients', ['aws-identity.js']),
  program('MCP: the conformance suite for client credentials', 'mcp', ['check.js']),
  program('MCP with the own clients of the official SDK, and through the proxy of the command line', 'mcp', [
    'own-client.js',
  ]),
  program('JWTs: ours elsewhere, hostile ones here', 'jwts', ['check.js']),
  program('Redirects in every client', 'redirects', ['check.js']),
  program('Redirects in every client, Bun', 'redirects', ['../load/node_modules/.bin/bun', 'check.js']),
  program('Redirects in every client, Deno', 'redirects', [
    '../load/node_modules/.bin/deno',
    'run',
    '-A',
    '--unsafely-ignore-certificate-errors=127.0.0.1',
    'check.js',
  ]),
  program('Cloudflare Workers', 'workers', ['check.js']),
  program('Redirects in Workers of three years', 'workers', ['redirects.js']),
  program('The steps of the Dockerfile', 'operations', ['container.sh']),
  program('The systemd unit', 'operations', ['unit.sh']),
  ...onNodes('Proxies of the environment', 'command-line', ['proxies.js'], ['22', '24', '26']),
  program('Mocha with require', 'load', ['node_modules/mocha/bin/mocha.js', 'load.spec.cjs']),
]

const list = new Listr(
  [
    {
      title: 'Versions of Node',
      task: async () => {
        for (const version of versions.filter((one) => !nodes.has(one))) {
          const args = ['-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath']
          nodes.set(version, (await run('npx', args, { folder: programs })).trim())
        }
      },
    },
    {
      title: 'Programs',
      task: (_, task) =>
        task.newListr(
          all.filter(({ title }) => String(title).includes(only)),
          { concurrent: 2, exitOnError: false },
        ),
    },
  ],
  {
    collectErrors: true,
    rendererOptions: { collapseErrors: false, timer: PRESET_TIMER },
    fallbackRendererOptions: { timer: PRESET_TIMER },
  },
)
try {
  await list.run()
} finally {
  await platform.close()
}
if (list.errors?.length) process.exitCode = 1
