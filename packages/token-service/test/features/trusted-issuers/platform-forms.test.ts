import { describe, expect, it } from 'vitest'
import { claimPatterns, maxClaims } from '../../../src/features/trusted-issuers/settings.ts'
import { platforms, type PlatformName } from '../../../src/features/trusted-issuers/platform-forms.ts'
import type { ClaimPatterns } from '../../../src/storage/application.ts'

const claimsOf = (platform: PlatformName, form: Record<string, string>) =>
  platforms[platform].parse(form).data
const errorsOf = (platform: PlatformName, form: Record<string, string>) => {
  const parsed = platforms[platform].parse(form)
  return parsed.data ? {} : parsed.state.errors
}

const github = { repository: 'example/orders', jobs: 'any', of: '' }

const cases: readonly (readonly [PlatformName, ClaimPatterns, described: readonly string[]])[] = [
  ['github', { repository: 'example/orders' }, ['example/orders', 'every job']],
  ['github', { repository_owner: 'example' }, ['example/*', 'every job']],
  ['github', { repository: 'example/orders', ref: 'refs/heads/main' }, ['example/orders', 'branch main']],
  ['github', { repository: 'example/orders', ref: 'refs/tags/v/*' }, ['example/orders', 'tag v/*']],
  [
    'github',
    { repository: 'example/orders', environment: 'production' },
    ['example/orders', 'environment production'],
  ],
  ['kubernetes', { sub: 'system:serviceaccount:orders:api' }, ['orders/api']],
  ['kubernetes', { sub: 'system:serviceaccount:orders:*' }, ['orders', 'every service account']],
  [
    'other',
    { sub: 'job:7', 'kubernetes.io': { pod: { name: 'a' }, attempts: 2 }, internal: true },
    ['sub = job:7', 'kubernetes.io > pod > name = a, kubernetes.io > attempts = 2, internal = true'],
  ],
]

describe('the form of a platform', () => {
  it.each(cases)('%s: shows claims, and returns the same ones', (platform, claims, described) => {
    const values = platforms[platform].valuesOf(claims)
    expect(values).toBeDefined()
    expect(claimsOf(platform, { ...values })).toEqual(claims)
    expect(platforms[platform].describe(claims)).toEqual(described)
  })

  it('leaves claims that it cannot show to the form of another platform', () => {
    const foreign: readonly (readonly [PlatformName, ClaimPatterns])[] = [
      ['github', { sub: 'repo:example/orders:*' }],
      ['github', { repository: 'example/orders', workflow: 'deploy' }],
      ['github', { repository: 'example/orders', ref: 'refs/pull/7/merge' }],
      ['github', { repository: 'example/orders', ref: 'refs/heads/main', environment: 'production' }],
      ['github', { repository: 'example/orders', repository_owner: 'example' }],
      ['github', { repository: 7 }],
      ['kubernetes', { sub: 'system:serviceaccount:*' }],
      ['kubernetes', { sub: 'system:serviceaccount:orders:api', aud: 'orders' }],
    ]
    for (const [platform, claims] of foreign) {
      expect(platforms[platform].valuesOf(claims), JSON.stringify(claims)).toBeUndefined()
      expect(platforms[platform].describe(claims)[0]).toContain(' = ')
    }
  })

  it('of GitHub asks for a name where jobs are limited', () => {
    expect(errorsOf('github', { ...github, jobs: 'branch' })).toEqual({
      of: 'Enter a name, or choose every job.',
    })
    expect(errorsOf('github', { ...github, of: 'main' })).toEqual({
      jobs: 'Choose what the name below is.',
    })
    expect(Object.keys(errorsOf('github', { ...github, repository: 'example' }))).toEqual(['repository'])
    expect(Object.keys(errorsOf('github', { ...github, jobs: 'branch', of: 'ma*' }))).toEqual(['of'])
  })

  it('of any other platform says which claim is wrong', () => {
    const one = (claim: string, kind: string, value: string) => ({
      claim_1: claim,
      kind_1: kind,
      value_1: value,
    })
    const wrong = [
      [{}, 'Enter at least one claim.'],
      [one('sub', 'text', ''), 'Enter the value of sub.'],
      [one('', 'text', 'job'), 'Enter the claim that is “job”.'],
      [one('a >', 'text', 'x'), '“a >” is not the name of a claim.'],
      [one('attempts', 'json', 'many'), 'Enter a number, true or false as the value of attempts.'],
      [one('attempts', 'json', ''), 'Enter a number, true or false as the value of attempts.'],
      [one('sub', 'text', 'job*'), 'A text can end with * only after : or /, and has no other *.'],
      [
        { ...one('a', 'text', 'x'), claim_2: 'a > b', kind_2: 'text', value_2: 'y' },
        'a > b is listed twice.',
      ],
      [{ ...one('a', 'text', 'x'), claim_3: 'a', kind_3: 'text', value_3: 'y' }, 'a is listed twice.'],
    ] as const
    for (const [form, claims] of wrong) expect(errorsOf('other', { ...form })).toEqual({ claims })
  })

  it('keeps a text that looks like a number apart from the number', () => {
    const values = platforms.other.valuesOf({ id: '74', count: 74 })
    expect(claimsOf('other', { ...values })).toEqual({ id: '74', count: 74 })
  })
})

it('has a line for each claim that a rule may have', () => {
  const claims = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, 'x']))
  expect(claimPatterns.safeParse(claims(maxClaims)).success).toBe(true)
  expect(claimPatterns.safeParse({ ...claims(maxClaims - 1), nested: { a: 'x', b: 'y' } }).success).toBe(
    false,
  )
})
