// `pnpm check:compatibility [--new-projects | --generated] [--full] [PART OF A TITLE]`: runs programs on the packed packages.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Listr, PRESET_TIMER, type ListrTask } from 'listr2'
import { send, startPlatform, type Platform, type PlatformOptions } from '../../../examples/run/platform.ts'
import { startPlatform as startIntegrations } from '../../../examples/integrations/run/platform.ts'
import { redisInstalled, startRedis } from '../../../packages/internal-testing/src/redis/redis-server.ts'
import { publishPacked, startLocalRegistry } from '../../release/src/local-registry.ts'
import { run } from '../../run-process.ts'
import { generatedProjects, tryGeneratedProject } from './generated-projects.ts'
import { generateNest } from './nest/generate-nest.ts'
import { applications, fillToolbox, hasChromium, tryApplication, tryPage } from './new-projects.ts'

const programs = fileURLToPath(new URL('../programs/', import.meta.url))
const integrations = fileURLToPath(new URL('../../../examples/integrations/', import.meta.url))
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const [only = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const current = process.versions.node.split('.')[0]!
const nodes = new Map([[current, process.execPath]])
const versions = ['20', '22', '24', '26'] as const

type Command = readonly [file: string, ...args: string[]]

interface Program {
  readonly title: string
  /** Absolute. */
  readonly folder: string
  /** They run one after another: a script in Node, or the path of another program. */
  readonly commands: readonly Command[]
  /** The major version of Node. @default the current one */
  readonly node?: string
  readonly prepare?: () => Promise<void>
  /** What each program has for itself. @default the platform of the examples */
  readonly start?: () => Promise<Platform>
  /** How many tokens the platform must have issued. */
  readonly tokens?: number
}

async function runProgram({ folder, commands, node, prepare, start = startPlatform, tokens }: Program) {
  await prepare?.()
  await using stack = new AsyncDisposableStack()
  const platform = stack.adopt(await start(), (started) => started.close())
  const environment = { ...process.env, ...platform.environment, NEXT_TELEMETRY_DISABLED: '1' }
  for (const [file, ...args] of commands) {
    const isScript = /\.[cm]?[jt]s$/.test(file)
    const program = isScript ? nodes.get(node ?? current)! : join(folder, file)
    const options = { folder, environment, timeoutMs: 15 * 60_000 }
    await run(program, isScript ? [file, ...args] : args, options)
  }
  const issued = tokens === undefined ? undefined : await platform.countTokens()
  if (issued !== tokens) throw new Error(`It requested ${issued} tokens instead of ${tokens}`)
}

/** A folder of `programs`, with further applications of the platform. */
function program(
  title: string,
  folder: string,
  command: Command | readonly Command[],
  platform?: PlatformOptions,
): Program {
  const commands = (typeof command[0] === 'string' ? [command] : command) as readonly Command[]
  return { title, folder: join(programs, folder), commands, start: () => startPlatform(platform) }
}

const onNodes = (
  title: string,
  folder: string,
  command: Command,
  supported: readonly string[] = versions,
): Program[] => supported.map((node) => ({ ...program(`${title}, Node ${node}`, folder, command), node }))

function nest(major: number, test: readonly string[], e2e: readonly string[]): Program {
  const inApp = (name: string) => `../node_modules/${name}`
  const compile = [inApp('typescript/bin/tsc'), '-p', 'tsconfig.build.json']
  return {
    title: `NestJS ${major}: its generated project`,
    folder: join(programs, `nest-${major}/app`),
    commands: [compile, test, e2e] as never,
    prepare: () => generateNest(`nest-${major}`),
  }
}

/** The configurations of Jest that the documentation shows, for `programs/load/jest.config.js`. */
function writeDocumentedConfigurations(): void {
  const page = readFileSync(new URL('../../../docs/modules.md', import.meta.url), 'utf8')
  const folder = join(programs, 'load/app')
  mkdirSync(folder, { recursive: true })
  for (const [, name, code] of page.matchAll(/^```js \[(.+?)\]\n(.*?)^```$/gms))
    writeFileSync(join(folder, `${name}.js`), code!)
}

const bun = '../load/node_modules/.bin/bun'
const deno = '../load/node_modules/.bin/deno'
const jest = 'node_modules/jest/bin/jest.js'
const ofDemo = { clientSecret: 'demo-secret' }
const clients = (lifetimeSeconds: number, ...names: readonly string[]) =>
  names.map((clientId) => ({ name: clientId, clientId, ...ofDemo, lifetimeSeconds }))

/** The main cases of client, verifier and store: each has an application of its own. */
const runtimePlatform: PlatformOptions = {
  applications: [
    ...clients(3_600, ...Array.from({ length: 200 }, (_, number) => `runtime-${number}`)),
    {
      name: 'jwt',
      clientId: 'jwt',
      ...ofDemo,
      responseForm: 'rfc6749',
      tokenFormat: 'jwt',
      scopes: ['orders:read'],
      audiences: ['https://orders.example.com'],
    },
  ],
  open(request, response) {
    const { url = '', headers } = request
    const elsewhere = `http://${headers.host!.replace('127.0.0.1', 'localhost')}`
    const target = { '/redirect': '/echo', '/redirect-elsewhere': `${elsewhere}/echo` }[url]
    if (target === undefined && url !== '/echo') return false
    if (target === undefined) send(response, 200, headers)
    else response.writeHead(307, { location: target }).end()
    return Promise.resolve()
  },
}
const inRuntime = (name: string, ...command: Command) =>
  program(`The main cases of client, verifier and store, ${name}`, 'runtimes', command, runtimePlatform)

const packaged: Program[] = [
  program('TypeScript 5.4, 5.9, 6 and 7', 'types', [
    'check.js',
    ...(flags.includes('--full') ? ['--full'] : []),
  ]),
  program('Next: two builds with its cache, and its server', 'next', ['check.mjs'], {
    applications: clients(2, 'short-lived'),
  }),
  program('Bundlers, for Node and for Chromium', 'bundles', ['check.js']),
  ...onNodes('Jest in CommonJS: JavaScript, ts-jest, SWC', 'load', [jest]),
  program('An existing API: Jest 29, Express 4, Passport, jose 4 and string mocks', 'existing', [jest]),
  nest(
    11,
    ['../node_modules/jest/bin/jest.js'],
    ['../node_modules/jest/bin/jest.js', '--config', 'test/jest-e2e.json'],
  ),
  nest(
    12,
    ['../node_modules/vitest/vitest.mjs', 'run'],
    ['../node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.config.e2e.ts'],
  ),
  program('NestJS 10.0: every transport', 'nest-transports-lowest', ['../nest-transports/check.cjs']),
  program('NestJS 10.0 and axios 1.7: the adapter suite', 'nest-transports-lowest', [
    'node_modules/vitest/vitest.mjs',
    'run',
    'adapter.test.mjs',
  ]),
  program('NestJS 12: every transport', 'nest-transports-newest', ['../nest-transports/check.cjs']),
  ...onNodes('One copy of require and import', 'load', ['one-copy.cjs']),
  program('One copy of require and import, Bun', 'load', [bun, 'one-copy.cjs']),
  program('One copy of require and import, Deno', 'load', [
    // Deno 2.9 hangs when the first load of such an ES module is by `require`.
    [deno, 'eval', "await import('@tokenwell/nestjs-module/axios')"],
    [deno, 'run', '-A', 'one-copy.cjs'],
  ]),
  program('Jest in ES modules', 'load', ['jest-esm.js']),
  program('Revoked tokens in clients of HTTP', 'clients', ['check.js']),
  program('An identity by the SDK of AWS', 'clients', ['aws-identity.js']),
  program('MCP: the conformance suite for client credentials', 'mcp', ['check.js']),
  program('MCP with the own clients of the official SDK, and through the proxy of the command line', 'mcp', [
    'own-client.js',
  ]),
  program('JWTs: ours elsewhere, hostile ones here', 'jwts', [['check.js'], ['bearer.js']]),
  inRuntime('Node', 'check.js'),
  inRuntime('Bun', bun, 'check.js'),
  inRuntime('Deno', deno, 'run', '-A', 'check.js'),
  inRuntime('workerd', 'workerd.js'),
  program('Redirects in every client', 'redirects', ['check.js']),
  program('Redirects in every client, Bun', 'redirects', [bun, 'check.js']),
  program('Redirects in every client, Deno', 'redirects', [
    deno,
    'run',
    '-A',
    '--unsafely-ignore-certificate-errors=127.0.0.1',
    'check.js',
  ]),
  program('Cloudflare Workers', 'workers', ['check.js'], {
    applications: [
      ...clients(2, 'plain-refresh', 'wait-until-refresh'),
      ...clients(60, 'plain-leaver', 'wait-until-leaver', 'plain-twenty', 'wait-until-twenty'),
    ],
  }),
  program('Redirects in Workers of three years', 'workers', ['redirects.js']),
  program('The steps of the Dockerfile', 'operations', ['container.sh']),
  program('The systemd unit', 'operations', ['unit.sh']),
  program('A year of an operator, as documented', 'operations', ['walk.js']),
  ...onNodes('Proxies of the environment', 'command-line', ['proxies.js'], ['22', '24', '26']),
  program('Mocha with require', 'load', [
    'node_modules/mocha/bin/mocha.js',
    '--timeout=60000',
    'load.spec.cjs',
  ]),
]

/** Each file of `examples/integrations`: called, then twice after its token expired and during an outage. */
const runtimes: Readonly<Record<string, Command>> = {
  bun: ['node_modules/.bin/bun'],
  deno: ['node_modules/.bin/deno', 'run', '--allow-all'],
}
let generated: Promise<void> | undefined
/** Runs the generators of API clients, with the commands of the documentation, once for all programs that need them. */
const generateClients = () => (generated ??= runDocumentedGenerators())
const withGenerated = new Set(['openapi-fetch', 'hey-api', 'orval'])

async function runDocumentedGenerators(): Promise<void> {
  const page = readFileSync(new URL('../../../docs/integrations/openapi.md', import.meta.url), 'utf8')
  const commands = Array.from(page.matchAll(/^npx -y (?:-p \S+ )*(\S+)(.*)$/gm))
  if (commands.length < 3) throw new Error('docs/integrations/openapi.md does not show the generators')
  for (const [, name, args] of commands)
    await run(join(integrations, 'node_modules/.bin', name!), args!.match(/\S+/g) ?? [], {
      folder: integrations,
    })
}

const integrated: Program[] = [
  {
    title: 'Integrations: TypeScript',
    folder: integrations,
    prepare: generateClients,
    commands: [['node_modules/typescript/bin/tsc', '-p', '.']],
  },
  ...readdirSync(integrations)
    .flatMap((file) => /^(.+)\.tsx?$/.exec(file)?.[1] ?? [])
    .map((name): Program => ({
      title: `Integration: ${name}`,
      folder: integrations,
      commands: [[...(runtimes[name] ?? []), 'run/call-example.ts', name] as never],
      ...(withGenerated.has(name) && { prepare: generateClients }),
      start: startIntegrations,
      // KafkaJS reconnects when a broker rejects its token: the callback itself does not notice a revocation.
      tokens: name === 'kafkajs' ? 1 : 3,
    })),
]

const tasksOf = (table: readonly Program[]): ListrTask[] =>
  table.map((each) => ({ title: each.title, task: () => runProgram(each) }))

await using stack = new AsyncDisposableStack()
const temporary = mkdtempSync(join(tmpdir(), 'tokenwell-compatibility-'))

/** Projects outside the repository, which install the packages from a registry. */
async function newProjects(): Promise<ListrTask[]> {
  const registry = stack.adopt(await startLocalRegistry(join(temporary, 'registry')), (one) => one.close())
  await publishPacked(registry, temporary)
  const row = (title: string, attempt: (folder: string, say: (step: string) => void) => Promise<void>) => ({
    title,
    task: async (_: unknown, task: { title: string }) => {
      const folder = join(temporary, title.replaceAll(/\W+/g, '-'))
      await attempt(folder, (step) => (task.title = `${title}: ${step}`))
      task.title = title
    },
  })
  if (flags.includes('--generated'))
    return generatedProjects.map((project) =>
      row(project.title, (folder, say) => tryGeneratedProject(project, folder, registry, say)),
    )
  const redis = redisInstalled ? stack.use(await startRedis()) : undefined
  const context = { registry, toolbox: await fillToolbox(join(temporary, 'toolbox')), redisUrl: redis?.url }
  return [
    ...applications()
      .filter((each) => each.package !== '@tokenwell/token-stores' || redis !== undefined)
      .map((each) =>
        row(`${each.title}, ${each.module}, ${each.manager}`, (folder, say) =>
          tryApplication(each, folder, context, say),
        ),
      ),
    ...(hasChromium ? ['@tokenwell/core', '@tokenwell/axios-interceptor', '@tokenwell/ky-hook'] : []).map(
      (name) => row(`${name} in a page`, (folder, say) => tryPage(name, folder, context, say)),
    ),
  ]
}

async function programsHere(): Promise<ListrTask[]> {
  writeDocumentedConfigurations()
  for (const version of versions.filter((one) => !nodes.has(one))) {
    const args = ['-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath']
    nodes.set(version, (await run('npx', args, { folder: programs })).trim())
  }
  return tasksOf([...packaged, ...integrated])
}

const isElsewhere = flags.includes('--new-projects') || flags.includes('--generated')
const all = await (isElsewhere ? newProjects() : programsHere())
const list = new Listr(
  all.filter(({ title }) => String(title).includes(only)),
  {
    concurrent: 2,
    exitOnError: false,
    collectErrors: true,
    rendererOptions: { collapseErrors: false, timer: PRESET_TIMER },
    fallbackRendererOptions: { timer: PRESET_TIMER },
  },
)
await list.run()
if (list.errors?.length) {
  process.exitCode = 1
  if (isElsewhere) process.stderr.write(`The projects are left in ${temporary}.\n`)
} else {
  rmSync(temporary, { recursive: true })
}
