import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectFolder } from '../public-packages.ts'
import { run } from '../../../run-process.ts'

const sources = 'packages/token-service/src'
const databases = 'packages/token-service/test/storage/published'
const isMigration = (path: string) => /\/migrations\/\d{4}-[\w-]+\.ts$/.test(path)

/**
 * Migrations that a release of the token service contains and this tree edits, renames or removes, and published schemas of
 * which no database is kept: databases of users have them behind them. Their folder may move, so what they import is not compared.
 */
export async function checkMigrations(project = projectFolder): Promise<string[]> {
  const git = (...args: readonly string[]) => run('git', args, { folder: project })
  const release = await latestRelease(git)
  // Until the first release, the first schema may be edited.
  if (release === undefined) return []
  const listed = await git('ls-tree', '-r', '--name-only', release, '--', sources)
  const present = new Map(
    globSync(`${sources}/**/migrations/*.ts`, { cwd: project })
      .map((path) => path.replaceAll('\\', '/'))
      .filter(isMigration)
      .map((path) => [basename(path), path]),
  )
  const problems: string[] = []
  for (const published of listed.split('\n').filter(isMigration)) {
    const name = basename(published)
    const path = present.get(name)
    if (path === undefined) {
      problems.push(
        `${published} is part of ${release} and is gone: restore it, and add another migration instead`,
      )
    } else if (
      withoutImports(await git('show', `${release}:${published}`)) !==
      withoutImports(readFileSync(join(project, path), 'utf8'))
    ) {
      problems.push(
        `${path} is part of ${release} and was edited: restore it, and add another migration instead`,
      )
    }
    const kept = `${databases}/${Number(name.slice(0, 4))}.json`
    if (!existsSync(join(project, kept)))
      problems.push(
        `${kept} is missing: write a database of the schema that ${release} published, as CONTRIBUTING.md says`,
      )
  }
  return problems
}

type Git = (...args: readonly string[]) => Promise<string>

/** The tag of the newest release of the token service that this tree is based on. */
function latestRelease(git: Git): Promise<string | undefined> {
  return git('describe', '--tags', '--abbrev=0', '--match', '@tokenwell/token-service@*').then(
    (text) => text.trim(),
    () => undefined,
  )
}

function withoutImports(text: string): string {
  return text.replaceAll(/^import .*\n/gm, '').replaceAll('\r\n', '\n')
}
