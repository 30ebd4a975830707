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

/** A repository with one commit, whose migration has landed. */
function repository() {
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
  commit()
  return { project, write, commit, check: () => checkMigrations(project) }
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

  it('names one that was edited since the previous commit, whether committed or not', async () => {
    const { write, commit, check } = repository()
    write(`${folder}/0001-initial.ts`, initial.replace('(b)', '(b, c)'))
    commit()
    const problem = `${folder}/0001-initial.ts has landed and was edited: restore it, and add another migration instead`
    expect(await check()).toEqual([problem])
    write(`${folder}/0001-initial.ts`, initial)
    expect(await check()).toEqual([])
  })

  it('names one that was renamed or removed', async () => {
    const { project, commit, check } = repository()
    commit()
    renameSync(join(project, folder, '0001-initial.ts'), join(project, folder, '0001-first.ts'))
    expect(await check()).toEqual([
      `${folder}/0001-initial.ts has landed and is gone: restore it, and add another migration instead`,
    ])
  })

  it('compares nothing in a clone without its history', async () => {
    const { write, check } = repository()
    write(`${folder}/0001-initial.ts`, 'anything')
    expect(await check()).toEqual([])
  })
})
