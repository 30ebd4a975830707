// `pnpm check:changesets BASE`: what has changed since a commit is named in a changeset, as what it is.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { getChangedFilesSince, getDivergedCommit } from '@changesets/git'
import { readChangesets } from '@changesets/read'
import { matchesGlob } from 'node:path/posix'
import { parse } from 'yaml'
import { run } from '../../run-process.ts'
import { changesetProblems, type ChangedPackage } from './changesets/changeset-problems.ts'
import { thirdPartyFile } from './checks/third-party.ts'
import { projectFolder, publicPackages, type Manifest, type PublicPackage } from './public-packages.ts'

const [since = 'origin/main'] = process.argv.slice(2)
const base = await getDivergedCommit(projectFolder, since)
const changedFiles = await getChangedFilesSince({ cwd: projectFolder, ref: base })
const { changedFilePatterns } = JSON.parse(
  readFileSync(join(projectFolder, '.changeset/config.json'), 'utf8'),
) as { readonly changedFilePatterns: readonly string[] }

const problems = changesetProblems({
  packages: await Promise.all(publicPackages().map(describeChange)),
  changesets: await readChangesets(projectFolder, base),
  catalog: changedEntries(
    catalogOf(await before('pnpm-workspace.yaml')),
    catalogOf(readFileSync(join(projectFolder, 'pnpm-workspace.yaml'), 'utf8')),
  ),
})
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.exitCode = 1

async function describeChange({ folder, manifest }: PublicPackage): Promise<ChangedPackage> {
  const path = relative(projectFolder, folder).replaceAll('\\', '/')
  const manifestBefore = await before(`${path}/package.json`)
  return {
    name: manifest.name,
    version: manifest.version,
    versionBefore: manifestBefore && (JSON.parse(manifestBefore) as Manifest).version,
    changedFile: changedFiles.find((file) =>
      changedFilePatterns.some((pattern) => matchesGlob(file, `${path}/${pattern}`)),
    ),
    dependencies: [
      ...Object.keys({
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...manifest.optionalDependencies,
      }),
      ...bundledIn(folder),
    ],
  }
}

function bundledIn(folder: string): string[] {
  const file = join(folder, thirdPartyFile)
  if (!existsSync(file)) return []
  const list = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly components: readonly { readonly name: string }[]
  }
  return list.components.map(({ name }) => name)
}

/** A file as it was before the branch, or undefined. */
function before(path: string): Promise<string | undefined> {
  return run('git', ['show', `${base}:${path}`], { folder: projectFolder }).catch(() => undefined)
}

function catalogOf(workspace = ''): Readonly<Record<string, string>> {
  return (parse(workspace) as { readonly catalog?: Readonly<Record<string, string>> } | null)?.catalog ?? {}
}

function changedEntries(
  old: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string[] {
  return Object.keys({ ...old, ...now }).filter((name) => old[name] !== now[name])
}
