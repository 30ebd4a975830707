import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Listr, PRESET_TIMER, type ListrTask } from 'listr2'
import { redisInstalled, startRedis } from '../../../packages/internal-testing/src/redis/redis-server.ts'
import { publicPackages } from './public-packages.ts'
import {
  tryApplication,
  type RehearsalContext,
  hasChromium,
  tryPage,
} from './rehearsal/application-project.ts'
import { applications } from './rehearsal/applications.ts'
import { releaseBreakingCore } from './rehearsal/breaking-release.ts'
import { generatedProjects, tryGeneratedProject } from './rehearsal/generated-projects.ts'
import { startLocalRegistry, copyProject, release, type RunInCopy } from './rehearsal/local-registry.ts'
import { startPlatform } from './rehearsal/platform.ts'
import { fetchPackage, type PublishedPackage, fillToolbox } from './rehearsal/toolbox.ts'
import { run } from './run.ts'

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-rehearsal-'))
const at = (...names: string[]) => join(folder, ...names)
const ending = new AbortController()
const { signal } = ending
const stack = new AsyncDisposableStack()
process.once('SIGINT', () => ending.abort()).once('SIGTERM', () => ending.abort())

/**
 * `pnpm release:rehearse ky` runs only the parts with "ky" in their names; `--generated` tries projects of generators
 * instead: with a cold cache, an installation takes one to four minutes, so they are tried weekly.
 */
const [only = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const generated = process.argv.includes('--generated')
const names = publicPackages().map(({ manifest }) => manifest.name)
let runInCopy: RunInCopy
const context = { signal } as { -readonly [Key in keyof RehearsalContext]: RehearsalContext[Key] }

type Try = (published: PublishedPackage, into: string, say: (step: string) => void) => Promise<void>
const tried = (title: string, name: string, attempt: Try): ListrTask => ({
  title,
  skip: () => name === '@tokenwell/token-stores' && !('REDIS_URL' in context.environment),
  task: async (_, task) => {
    const say = (step: string) => (task.title = `${title}: ${step}`)
    await attempt(await fetchPackage(context.registry, name), at(title.replaceAll(/\W+/g, '-')), say)
    task.title = title
  },
})
const tryApplications = (prefix = ''): ListrTask[] =>
  applications(names).map((application) =>
    tried(
      `${prefix}${application.title}, ${application.module}, ${application.manager}`,
      application.package,
      (published, into, say) => tryApplication(application, published, into, context, say),
    ),
  )
const isWanted = ({ title }: ListrTask) => String(title).includes(only)
const tryPages = (): ListrTask[] =>
  ['@tokenwell/core', '@tokenwell/axios-interceptor', '@tokenwell/ky-hook'].map((name) =>
    tried(`${name.replace('@tokenwell/', '')} in a page`, name, (published, into, say) =>
      tryPage(published, into, context, say),
    ),
  )

const all: ListrTask[] = [
  {
    title: 'A registry on this machine',
    task: async () => {
      const upstream = (await run('npm', ['config', 'get', 'registry'], { folder })).trim()
      context.registry = await startLocalRegistry(at('registry'), names, upstream)
      stack.defer(() => context.registry.close())
    },
  },
  {
    title: 'A copy of the project',
    task: async () => {
      runInCopy = await copyProject(at('project'), signal)
      await runInCopy('pnpm', 'install', '--frozen-lockfile')
    },
  },
  { title: 'A first release', task: () => release(runInCopy, at('project'), context.registry) },
  {
    title: 'Versions of Node and TypeScript',
    enabled: () => !generated,
    task: async () => {
      context.toolbox = await fillToolbox(at('toolbox'), signal)
    },
  },
  {
    title: 'A token service and a Redis',
    task: async (_, task) => {
      context.platform = await startPlatform(at('project'))
      stack.defer(() => context.platform.close())
      const redis = redisInstalled ? stack.use(await startRedis()) : undefined
      if (!redis) task.title += ' (there is no redis-server here: apt install redis-server)'
      const TOKEN_KEY = randomBytes(32).toString('base64')
      context.environment = { TOKEN_KEY, ...(redis && { REDIS_URL: redis.url }) }
    },
  },
  {
    title: 'Projects of generators, with the lines of the documentation',
    enabled: () => generated,
    task: (_, task) =>
      task.newListr(
        generatedProjects
          .map(({ title, ...project }): ListrTask => ({
            title,
            task: (__, subtask) =>
              tryGeneratedProject(
                { title, ...project },
                at(title.replaceAll(/\W+/g, '-')),
                context,
                (step) => {
                  subtask.title = `${title}: ${step}`
                },
              ),
          }))
          .filter(isWanted),
        { concurrent: 2, exitOnError: false },
      ),
  },
  {
    title: 'Applications that do what the READMEs say',
    enabled: () => !generated,
    task: (_, task) =>
      task.newListr(tryApplications().filter(isWanted), { concurrent: 2, exitOnError: false }),
  },
  {
    enabled: () => !generated,
    title: `Pages bundled by Vite${hasChromium ? '' : ' (not opened: install Chromium, or set CHROMIUM_PATH)'}`,
    task: (_, task) => task.newListr(tryPages().filter(isWanted), { concurrent: 2, exitOnError: false }),
  },
  {
    enabled: () => !generated,
    title: 'A second release, with a breaking change of core',
    task: () => releaseBreakingCore(runInCopy, at('project'), context.registry),
  },
  {
    enabled: () => !generated,
    title: 'An application that takes it',
    task: (_, task) => task.newListr(tryApplications('After the break: ').slice(0, 1)),
  },
]
const list = new Listr(all, {
  collectErrors: true,
  registerSignalListeners: false,
  rendererOptions: { collapseErrors: false, timer: PRESET_TIMER },
  fallbackRendererOptions: { timer: PRESET_TIMER },
})
try {
  await list.run()
} catch {
  // The list shows it.
} finally {
  await stack.disposeAsync()
}
const failed = list.errors?.map(({ task }) => `  ${String(task.title)}`) ?? []
if (failed.length > 0) {
  process.exitCode = 1
  process.stderr.write(
    `\n${failed.length} failed:\n${failed.join('\n')}\nWhat was tried is left in ${folder}\n`,
  )
} else {
  await rm(folder, { recursive: true })
}
