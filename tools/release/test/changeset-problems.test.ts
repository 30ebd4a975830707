import { describe, expect, it } from 'vitest'
import { changesetProblems, type Change, type ChangedPackage } from '../src/changesets/changeset-problems.ts'

function packageOf(name: string, change: Partial<ChangedPackage> = {}): ChangedPackage {
  return {
    name,
    version: '0.1.3',
    versionBefore: '0.1.3',
    changedFile: undefined,
    dependencies: [],
    ...change,
  }
}

const core = packageOf('@tokenwell/core', { changedFile: 'packages/core/src/index.ts' })
const service = packageOf('@tokenwell/token-service', { dependencies: ['fastify', 'kysely'] })

const problemsOf = (change: Partial<Change>) =>
  changesetProblems({ packages: [core, service], changesets: [], catalog: [], ...change })

function changeset(type: string, summary: string, ...names: string[]) {
  return { id: 'brave-cups', summary, releases: names.map((name) => ({ name, type })) }
}

describe('changesetProblems', () => {
  it('requires a changeset for each package that changes', () => {
    const both = [core, { ...service, changedFile: 'packages/token-service/README.md' }]
    expect(
      problemsOf({ packages: both, changesets: [changeset('patch', 'Fixes a leak.', core.name)] }),
    ).toStrictEqual([
      '@tokenwell/token-service changes (packages/token-service/README.md), and no changeset names it: run `pnpm changeset`, or `pnpm changeset --empty` if users notice nothing.',
    ])
    expect(problemsOf({ packages: both })).toHaveLength(2)
    expect(
      problemsOf({ packages: both, changesets: [changeset('patch', 'Fixes it.', core.name, service.name)] }),
    ).toStrictEqual([])
  })

  it('requires none for a package that does not change', () => {
    expect(problemsOf({ packages: [packageOf('@tokenwell/core'), service] })).toStrictEqual([])
  })

  it('accepts an empty changeset for what users do not notice', () => {
    expect(problemsOf({ changesets: [changeset('patch', '')] })).toStrictEqual([])
  })

  it('requires a changeset for a dependency that is published or bundled', () => {
    const packages = [packageOf('@tokenwell/core', { dependencies: ['zod'] }), service]
    expect(problemsOf({ packages, catalog: ['kysely', 'vitest'] })).toStrictEqual([
      expect.stringMatching(/^@tokenwell\/token-service changes \(the range of kysely\), /),
    ])
    expect(problemsOf({ packages, catalog: ['vitest'] })).toStrictEqual([])
  })

  it('accepts the request that raises all versions', () => {
    const packages = [core, service].map((one) => ({ ...one, versionBefore: '0.1.2' }))
    expect(problemsOf({ packages })).toStrictEqual([])
    expect(problemsOf({ packages: [packages[0]!, service] })).toHaveLength(1)
  })

  it('accepts minor below 1.0 only with the word breaking', () => {
    const minor = (summary: string) => problemsOf({ changesets: [changeset('minor', summary, core.name)] })
    expect(minor('Adds an option.')).toStrictEqual([
      '.changeset/brave-cups.md is a minor change of @tokenwell/core: below 1.0, a feature is a patch. If it breaks code, begin its text with "Breaking:".',
    ])
    expect(minor('Breaking: renames `a` to `b`.')).toStrictEqual([])
    expect(minor('Is groundbreaking.')).toHaveLength(1)
    const stable = [{ ...core, version: '1.0.0', versionBefore: '1.0.0' }]
    const changesets = [changeset('minor', 'Adds an option.', core.name)]
    expect(problemsOf({ packages: stable, changesets })).toStrictEqual([])
  })

  it('rejects major below 1.0, and names that are not published', () => {
    expect(problemsOf({ changesets: [changeset('major', 'Breaking: all.', core.name)] })).toStrictEqual([
      '.changeset/brave-cups.md is a major change of @tokenwell/core: 1.0 is released on purpose. Write minor.',
    ])
    expect(
      problemsOf({ changesets: [changeset('patch', 'Fixes.', core.name, '@tokenwell/cores')] }),
    ).toStrictEqual(['.changeset/brave-cups.md names @tokenwell/cores, which is not a published package.'])
  })
})
