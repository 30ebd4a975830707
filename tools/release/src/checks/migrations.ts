import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectFolder } from '../public-packages.ts'
import { run } from '../../../run-process.ts'

const sources = 'packages/token-service/src'
const isMigration = (path: string) => /\/migrations\/\d{4}-[\w-]+\.ts$/.test(path)

/**
 * Migrations on the main branch that this tree edits, renames or removes: databases have them behind them. Their folder may
 * move, so what they import is not compared.
 */
export async function checkMigrations(project = projectFolder): Promise<string[]> {
  const git = (...args: readonly string[]) => run('git', args, { folder: project })
  const base = await landedCommit(git)
  // A clone without its history has nothing to compare with.
  if (base === undefined) return []
  const listed = await git('ls-tree', '-r', '--name-only', base, '--', sources)
  const present = new Map(
    globSync(`${sources}/**/migrations/*.ts`, { cwd: project })
      .map((path) => path.replaceAll('\\', '/'))
      .filter(isMigration)
      .map((path) => [basename(path), path]),
  )
  const problems: string[] = []
  for (const landed of listed.split('\n').filter(isMigration)) {
    const name = basename(landed)
    const path = present.get(name)
    if (path === undefined) {
      problems.push(`${landed} has landed and is gone: restore it, and add another migration instead`)
    } else if (
      withoutImports(await git('show', `${base}:${landed}`)) !==
      withoutImports(readFileSync(join(project, path), 'utf8'))
    ) {
      problems.push(`${path} has landed and was edited: restore it, and add another migration instead`)
    }
  }
  return problems
}

type Git = (...args: readonly string[]) => Promise<string>

/** The commit of the main branch that this tree is compared with: on that branch itself, the previous one. */
async function landedCommit(git: Git): Promise<string | undefined> {
  const commitOf = (...args: readonly string[]) =>
    git(...args).then(
      (text) => text.trim(),
      () => undefined,
    )
  const head = await commitOf('rev-parse', 'HEAD')
  const branched = await commitOf('merge-base', 'HEAD', 'origin/main')
  return branched === undefined || branched === head ? commitOf('rev-parse', '--verify', 'HEAD^') : branched
}

function withoutImports(text: string): string {
  return text.replaceAll(/^import .*\n/gm, '').replaceAll('\r\n', '\n')
}
