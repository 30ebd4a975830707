// `pnpm test [filter]`: without a filter, runs the tests of the packages that have changed since their tests last passed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache/tokenwell/passed-tests.json')
/** Tests that belong to no package. They are fast. */
const others = ['tools/']

const filters = process.argv.slice(2)
if (filters.length > 0 || process.env['CI']) {
  const vitest = await startVitest('test', filters, { watch: false })
  await vitest.close()
} else {
  await runChanged()
}

/** One run of Vitest for all of them: PostgreSQL, Redis and Chromium start once. */
async function runChanged(): Promise<void> {
  const hashes = hashesOfPackages()
  const passed = readPassed()
  const changed = [...hashes].filter(([folder, hash]) => passed[folder] !== hash).map(([folder]) => folder)
  const unchanged = hashes.size - changed.length
  if (unchanged > 0)
    process.stdout.write(
      `${unchanged} packages have not changed since their tests passed. CI=1 runs all tests.\n`,
    )
  const vitest = await startVitest('test', [...changed.map((folder) => `${folder}/`), ...others], {
    watch: false,
  })
  const modules = vitest.state.getTestModules()
  // An error outside of all tests may belong to any of them.
  const sound = vitest.state.getUnhandledErrors().length === 0
  for (const folder of changed) {
    const own = modules.filter(({ moduleId }) => relative(root, moduleId).startsWith(`${folder}/`))
    // A skipped test runs as soon as its program is installed, which changes no file.
    const complete = own.every(
      (module) => module.ok() && [...module.children.allTests('skipped')].length === 0,
    )
    if (sound && own.length > 0 && complete) passed[folder] = hashes.get(folder)!
    else delete passed[folder]
  }
  await vitest.close()
  mkdirSync(dirname(cache), { recursive: true })
  writeFileSync(cache, JSON.stringify(passed))
}

/** By folder. Turbo's hash covers a package's files, its installed dependencies, and all of these of what it depends on. */
function hashesOfPackages(): Map<string, string> {
  const turbo = join(root, 'node_modules/.bin/turbo')
  const shell = process.platform === 'win32'
  const plan = execFileSync(turbo, ['run', 'test', '--dry=json'], {
    cwd: root,
    encoding: 'utf8',
    shell,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
  })
  const { tasks } = JSON.parse(plan) as { tasks: { directory: string; hash: string; command: string }[] }
  return new Map(
    tasks
      .filter(({ command }) => command !== '<NONEXISTENT>')
      .map(({ directory, hash }) => [directory.replaceAll('\\', '/'), hash]),
  )
}

function readPassed(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(cache, 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
