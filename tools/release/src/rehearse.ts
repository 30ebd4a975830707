// `pnpm rehearse`: releases a copy of the project to a registry on this machine, in each way that RELEASING.md
// describes, and compares what is there afterwards with its table.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../run-process.ts'
import { startLocalRegistry, type LocalRegistry } from './local-registry.ts'
import { projectFolder, publicPackages, readManifest } from './public-packages.ts'

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-rehearsal-'))
const copy = join(folder, 'project')
const packedFolder = join(folder, 'packed')
const names = { core: '@tokenwell/core', 'ky-hook': '@tokenwell/ky-hook', cli: 'tokenwell' }
const began = performance.now()

const say = (text: string) =>
  process.stdout.write(`${String(Math.round((performance.now() - began) / 1_000)).padStart(4)} s  ${text}\n`)

const environment = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  // What is built already is not built again.
  TURBO_CACHE_DIR: join(projectFolder, '.turbo/cache'),
  GIT_AUTHOR_NAME: 'Rehearsal',
  GIT_AUTHOR_EMAIL: 'rehearsal@localhost',
  GIT_COMMITTER_NAME: 'Rehearsal',
  GIT_COMMITTER_EMAIL: 'rehearsal@localhost',
  GITHUB_TOKEN: undefined,
  pnpm_config_verify_deps_before_run: 'false',
}
const inCopy = (program: string, ...args: string[]) =>
  run(program, args, { folder: copy, environment, timeoutMs: 30 * 60_000 })
const commit = async (subject: string) => {
  await inCopy('git', 'add', '--all')
  await inCopy('git', 'commit', '--quiet', '--message', subject)
}

/** The work tree, uncommitted changes included, as a new repository. */
async function copyProject(registry: LocalRegistry): Promise<void> {
  const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = (await run('git', listing, { folder: projectFolder })).split('\0').filter(Boolean)
  for (const file of new Set(files)) {
    const from = join(projectFolder, file)
    if (existsSync(from)) await cp(from, join(copy, file))
  }
  const modules = 'tools/release/node_modules'
  await symlink(join(projectFolder, modules), join(copy, modules), 'junction')
  await inCopy('git', 'init', '--quiet', '--initial-branch=main')
  await inCopy('git', 'config', 'core.hooksPath', '.git/no-hooks')
  await commit('tools: begin a rehearsal')
  await inCopy('pnpm', 'install', '--frozen-lockfile', '--prefer-offline')
  await registry.useIn(copy)
  await writeFile(join(copy, '.git/info/exclude'), '.npmrc\n')
}

/** A project that has been released begins again with 0.1.0; before that, its own changesets make the first release. */
async function beginWithFirstVersion(): Promise<void> {
  if (publicPackages(copy).every(({ manifest }) => manifest.version === '0.0.0')) return version()
  for (const file of await readdir(join(copy, '.changeset')))
    if (file.endsWith('.md') || file === 'pre.json') await rm(join(copy, '.changeset', file))
  for (const { folder: of, manifest } of publicPackages(copy)) {
    await writeFile(join(of, 'package.json'), JSON.stringify({ ...manifest, version: '0.1.0' }, undefined, 2))
    await rm(join(of, 'CHANGELOG.md'), { force: true })
  }
  await commit('tools: begin with 0.1.0')
}

async function version(...args: string[]): Promise<void> {
  await inCopy('pnpm', 'run', 'version', ...args)
  await commit('Version Packages')
}

/** Builds and publishes by hand. */
const release = (...args: string[]) => inCopy('pnpm', 'run', 'release', ...args)

/** What a run of the release workflow does for the commit of the copy. Returns what its job "plan" prints. */
async function workflow(branch = 'main'): Promise<string> {
  await rm(packedFolder, { recursive: true, force: true })
  const printed = await inCopy('pnpm', '--dir', 'tools/release', 'run', 'plan', branch, packedFolder)
  if (!printed.includes('publish @') && !printed.includes('publish tokenwell')) return printed
  await inCopy('pnpm', 'run', 'build', '--filter', './packages/*')
  const plan = join(packedFolder, 'publish-plan.json')
  const packages = join(packedFolder, 'packages')
  await inCopy('pnpm', 'changeset', 'pack', '--from-publish-plan', plan, '--out-dir', packages)
  await inCopy('pnpm', 'changeset', 'publish', '--from-pack-dir', packages)
  return printed
}

/** A change of core with its changeset, as a pull request brings it. */
async function change(type: 'patch' | 'minor', summary: string, id: string = type): Promise<void> {
  const base = (await inCopy('git', 'rev-parse', 'HEAD')).trim()
  await appendFile(join(copy, 'packages/core/src/index.ts'), `// ${summary.split('\n')[0]}\n`)
  const changeset = `---\n'${names.core}': ${type}\n---\n\n${summary}\n`
  await writeFile(join(copy, `.changeset/${id}.md`), changeset)
  await commit(`core: change what the ${type} release is about (#12)`)
  await checkChangesets(base)
}

const checkChangesets = (base: string) =>
  inCopy('pnpm', '--dir', 'tools/release', 'run', 'check:changesets', base)

interface Document {
  readonly 'dist-tags': Readonly<Record<string, string>>
  readonly time: Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, unknown>>
}

const documentOf = async (registry: LocalRegistry, name: string) =>
  (await (await fetch(`${registry.url}${name.replace('/', '%2f')}`)).json()) as Document

/** A row of the table: the versions that the release has added, and the tags of core. */
async function rowOf(registry: LocalRegistry, tag: string | undefined): Promise<string[]> {
  const core = (await documentOf(registry, names.core))['dist-tags']
  const added = await Promise.all(
    Object.values(names).map(async (name) => {
      const tags = (await documentOf(registry, name))['dist-tags']
      return (tag && tags[tag]) ?? tags['latest']!
    }),
  )
  return [...added, core['latest']!, tag === undefined ? '' : `\`${tag}\` = ${core[tag]}`]
}

const changelogOf = (name: string) => readFile(join(copy, 'packages', name, 'CHANGELOG.md'), 'utf8')

/** Installs a package as users do, and returns which version of core comes with it. */
async function coreWith(registry: LocalRegistry, ...packages: string[]): Promise<string> {
  const project = await mkdtemp(join(folder, 'installed-'))
  await writeFile(join(project, 'package.json'), '{ "private": true }')
  await registry.useIn(project)
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { folder: project })
  return readManifest(join(project, 'node_modules', names.core)).version
}

const registry = await startLocalRegistry(join(folder, 'registry'))
const rows: string[][] = []
async function step(title: string, work: () => Promise<string | undefined | void>): Promise<void> {
  const tag = (await work()) ?? undefined
  rows.push(await rowOf(registry, tag))
  say(`${title}: ${rows.at(-1)!.filter(Boolean).join(', ')}`)
}

try {
  await mkdir(copy)
  await copyProject(registry)
  say('a copy of the project')

  await step('first, by hand', async () => {
    await beginWithFirstVersion()
    await assert.rejects(workflow(), /is not on the registry. Publish the first version by hand/)
    await release()
    assert.equal(await coreWith(registry, names['ky-hook'], 'ky'), '0.1.0')
    assert.doesNotMatch(await workflow(), /publish/)
  })
  await step('a patch that breaks in the middle, while another change is merged', async () => {
    await change('patch', 'Fixes what the rehearsal is about.')
    assert.match(await workflow(), /^open or update "Version Packages"$/m)
    const before = (await inCopy('git', 'rev-parse', 'HEAD')).trim()
    await version()
    await checkChangesets(before)
    registry.failing = names['ky-hook']
    await assert.rejects(workflow(), 'a publication that fails must exit with an error')
    registry.failing = undefined
    assert.equal((await documentOf(registry, names.core))['dist-tags']['latest'], '0.1.1')
    assert.equal((await documentOf(registry, names['ky-hook']))['dist-tags']['latest'], '0.1.0')
    // The run of another merge completes it, although there are changesets again.
    await change('patch', 'Fixes what is next.', 'next')
    assert.match(
      await workflow(),
      /publish @tokenwell\/ky-hook@0\.1\.1 as latest\n.*open or update "Version Packages"/s,
    )
    const changelog = await changelogOf('core')
    const line =
      /- \[#12\]\(\S+\/pull\/12\) \[`\w{7}`\]\(\S+\/commit\/\w{40}\) by Rehearsal: Fixes what the rehearsal is about\./
    assert.match(changelog, line)
    assert.match(await changelogOf('ky-hook'), /Updated dependencies:\n {2}- @tokenwell\/core@0\.1\.1/)
    assert.equal(await coreWith(registry, `${names['ky-hook']}@0.1.1`, 'ky'), '0.1.1')
    await rm(join(copy, '.changeset/next.md'))
    await commit('tools: forget the next change')
  })
  await step('a pre-release', async () => {
    await inCopy('pnpm', 'changeset', 'pre', 'enter', 'next')
    await change('minor', 'Breaking: renames `a` to `b`.\n\n**Migration**: replace `a()` with `b()`.')
    await version()
    await workflow()
    assert.equal(await coreWith(registry, `${names['ky-hook']}@next`, 'ky'), '0.2.0-next.0')
    return 'next'
  })
  await step('a breaking change', async () => {
    await inCopy('pnpm', 'changeset', 'pre', 'exit')
    await version()
    await workflow()
    assert.match(
      await changelogOf('core'),
      /## 0\.2\.0\n.*\*\*Migration\*\*: replace `a\(\)` with `b\(\)`\./s,
    )
    assert.equal(await coreWith(registry, names['ky-hook'], 'ky'), '0.2.0')
  })
  await step('a fix of the minor version before', async () => {
    await inCopy('git', 'checkout', '--quiet', '-b', 'release/0.1', `${names.core}@0.1.1`)
    await change('patch', 'Fixes a leak.')
    await version()
    assert.match(await workflow('release/0.1'), /publish @tokenwell\/core@0\.1\.2 as fix-0\.1/)
    assert.equal(await coreWith(registry, `${names['ky-hook']}@fix-0.1`, 'ky'), '0.1.2')
    assert.equal(await coreWith(registry, names['ky-hook'], 'ky'), '0.2.0')
    // A version that exists, from a commit without the fix.
    await inCopy('git', 'checkout', '--quiet', '-b', 'other', `${names.core}@0.1.1`)
    await change('patch', 'Fixes something else.')
    await version()
    await assert.rejects(
      workflow('release/0.1'),
      /@tokenwell\/core@0\.1\.2.* was published from another branch/,
    )
    await inCopy('git', 'checkout', '--quiet', 'main')
    return 'fix-0.1'
  })
  await step('a snapshot', async () => {
    await change('patch', 'Tries something.')
    await version('--snapshot', 'canary')
    await release('--tag', 'canary', '--no-git-tag')
    return 'canary'
  })
  await compare()
} catch (error) {
  process.stderr.write(`${String(error)}\nWhat was tried is left in ${folder}.\n`)
  process.exitCode = 1
} finally {
  await registry.close()
}
if (!process.exitCode) await rm(folder, { recursive: true })

/** Compares the rows with those of the page. `…` matches what differs between runs. */
async function compare(): Promise<void> {
  const page = await readFile(join(projectFolder, 'RELEASING.md'), 'utf8')
  const table = [...page.matchAll(/^\| (?:first|a patch|pre-release|breaking change|fix|snapshot)\b.*$/gm)]
  const cells = ([line]: RegExpExecArray) =>
    line
      .split('|')
      .slice(3, -1)
      .map((cell) => cell.trim())
  const problems = rows.flatMap((row, index) => {
    const documented = cells(table[index]!)
    const same = documented.every((cell, at) =>
      new RegExp(
        `^${cell
          .split('…')
          .map((part) => RegExp.escape(part))
          .join('.*')}$`,
      ).test(row[at]!),
    )
    return same ? [] : [`RELEASING.md says ${documented.join(' | ')}, but it is ${row.join(' | ')}`]
  })
  assert.equal(table.length, rows.length)
  assert.deepEqual(problems, [])
  say('what is there is what RELEASING.md says')
}
