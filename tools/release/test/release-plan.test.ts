import { describe, expect, it } from 'vitest'
import { planRelease, type PlannedPackage, type ReleaseState } from '../src/release-plan.ts'

function planned(name: string, version = '0.1.1'): PlannedPackage {
  return { kind: 'publish', name, version, tag: 'latest' }
}

const core = planned('@tokenwell/core')
const kyHook = planned('@tokenwell/ky-hook')

const planOf = (state: Partial<ReleaseState>) =>
  planRelease({
    branch: 'main',
    plan: [],
    hasChangesets: false,
    newPackages: [],
    foreignTags: [],
    latest: '0.1.0',
    ...state,
  })

describe('planRelease', () => {
  it('does nothing if everything is published and nothing has changed', () => {
    expect(planOf({})).toStrictEqual({ publish: [], version: false })
  })

  it('opens "Version Packages" for changesets', () => {
    expect(planOf({ hasChangesets: true })).toStrictEqual({ publish: [], version: true })
  })

  it('publishes a version although another merge has brought changesets meanwhile', () => {
    const plan = [[core], [kyHook]]
    expect(planOf({ plan, hasChangesets: true })).toStrictEqual({ publish: plan, version: true })
  })

  it('publishes the rest of a publication that broke in the middle', () => {
    expect(planOf({ plan: [[kyHook]], latest: '0.1.1' })).toStrictEqual({
      publish: [[kyHook]],
      version: false,
    })
  })

  it('publishes a fix of an older minor version under a tag of its own', () => {
    const { publish } = planOf({ branch: 'release/0.1', plan: [[core], [kyHook]], latest: '0.2.3' })
    expect(publish).toStrictEqual([[{ ...core, tag: 'fix-0.1' }], [{ ...kyHook, tag: 'fix-0.1' }]])
  })

  it('rejects a fix branch of the newest minor version, or with another minor version', () => {
    expect(() => planOf({ branch: 'release/0.1', plan: [[core]], latest: '0.1.4' })).toThrow(
      '0.1 is the newest minor version: release its fixes from main.',
    )
    expect(() =>
      planOf({ branch: 'release/0.1', plan: [[core], [planned('tokenwell', '0.2.0')]], latest: '0.2.0' }),
    ).toThrow('release/0.1 must not publish tokenwell@0.2.0. Only patches belong there.')
    // 0.10 is another minor version than 0.1.
    expect(() =>
      planOf({ branch: 'release/0.1', plan: [[planned('tokenwell', '0.10.1')]], latest: '0.10.0' }),
    ).toThrow('must not publish')
    expect(planOf({ branch: 'release/0.1', plan: [[core]], latest: '0.10.0' }).publish).toHaveLength(1)
  })

  it('rejects a version that was published from another branch', () => {
    expect(() => planOf({ plan: [], foreignTags: ['tokenwell@0.1.2'] })).toThrow(
      'tokenwell@0.1.2 was published from another branch. Give this branch a version that does not exist.',
    )
  })

  it('rejects a package that the registry does not know, because only a person can publish its first version', () => {
    const plan = [[core], [planned('@tokenwell/new')]]
    expect(() => planOf({ plan, newPackages: ['@tokenwell/new'] })).toThrow(
      '@tokenwell/new is not on the registry. Publish the first version by hand: see "Once, on npm" in RELEASING.md.',
    )
    expect(planOf({ plan: [[core]], newPackages: ['@tokenwell/other'] }).publish).toStrictEqual([[core]])
  })

  it('rejects other branches', () => {
    for (const branch of ['release/0.1.2', 'release/next', 'fix', 'main/0.1'])
      expect(() => planOf({ branch })).toThrow('is neither main nor named like release/0.1')
  })
})
