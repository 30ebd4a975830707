import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkMigrations } from '../src/checks/migrations.ts'

const folder = 'packages/token-service/src/storage/migrations'
const initial = `import type { Migration } from './migration.ts'

export const initial: Migration = { name: '0001-initial', statements: () => ['create table a (b)'] }
`

const databases = 'packages/token-service/test/storage/published'
const release = '@tokenwell/token-service@0.1.0'

/** A repository whose only commit is a release with one migration. */
function repository({ published = true } = {}) {
  const project = mkdtempSync(join(tmpdir(), 'tokenwell-migrations-'))
  onTestFinished(() => rmSync(project, { recursive: true }))
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: project })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const commit = () => {
    git('add', '.')
    git('commit', '--quiet', '--allow-empty', '--message', 'change')
  }
  git('init', '--quiet')
  write(`${folder}/0001-initial.ts`, initial)
  write(`${databases}/1.json`, '{}')
  commit()
  if (published) git('tag', release)
  return { project, git, write, commit, check: () => checkMigrations(project) }
}

describe('the check of migrations', () => {
  it('accepts one that was added, and another folder', async () => {
    const { project, write, commit, check } = repository()
    write(`${folder}/0002-next.ts`, 'export const next = 1\n')
    commit()
    expect(await check()).toEqual([])
    renameSync(join(project, folder), join(project, dirname(folder), '../migrations'))
    write(
      `${dirname(dirname(folder))}/migrations/0001-initial.ts`,
      initial.replace('./migration.ts', '../migration.ts'),
    )
    expect(await check()).toEqual([])
  })

  it('names one that was edited since it was published, whether committed or not', async () => {
    const { write, commit, check } = repository()
    write(`${folder}/0001-initial.ts`, initial.replace('(b)', '(b, c)'))
    const problem = `${folder}/0001-initial.ts is part of ${release} and was edited: restore it, and add another migration instead`
    expect(await check()).toEqual([problem])
    commit()
    commit()
    expect(await check()).toEqual([problem])
    write(`${folder}/0001-initial.ts`, initial)
    expect(await check()).toEqual([])
  })

  it('names one that was renamed or removed', async () => {
    const { project, check } = repository()
    renameSync(join(project, folder, '0001-initial.ts'), join(project, folder, '0001-first.ts'))
    expect(await check()).toEqual([
      `${folder}/0001-initial.ts is part of ${release} and is gone: restore it, and add another migration instead`,
    ])
  })

  it('compares with the newest release', async () => {
    const { git, write, commit, check } = repository()
    write(`${folder}/0002-next.ts`, 'export const next = 1\n')
    write(`${databases}/2.json`, '{}')
    commit()
    git('tag', '@tokenwell/token-service@0.2.0')
    git('tag', '@tokenwell/core@0.3.0')
    write(`${folder}/0002-next.ts`, 'export const next = 2\n')
    expect(await check()).toEqual([
      `${folder}/0002-next.ts is part of @tokenwell/token-service@0.2.0 and was edited: restore it, and add another migration instead`,
    ])
  })

  it('requires a database of each schema that was published', async () => {
    const { project, check } = repository()
    rmSync(join(project, databases), { recursive: true })
    expect(await check()).toEqual([
      `${databases}/1.json is missing: write a database of the schema that ${release} published, as CONTRIBUTING.md says`,
    ])
  })

  it('accepts every change before the first release', async () => {
    const { write, check } = repository({ published: false })
    write(`${folder}/0001-initial.ts`, 'anything')
    expect(await check()).toEqual([])
  })
})
