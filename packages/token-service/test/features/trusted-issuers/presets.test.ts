import { describe, expect, it } from 'vitest'
import { claimValues, readClaims } from '../../../src/features/trusted-issuers/issuer-form.ts'
import {
  missingOwner,
  presetNames,
  presetOf,
  presets,
} from '../../../src/features/trusted-issuers/presets.ts'
import {
  claimPatterns,
  maxClaims,
  rejectInvalidIssuers,
} from '../../../src/features/trusted-issuers/settings.ts'
import type { ClaimPatterns } from '../../../src/storage/application.ts'

const github = 'https://token.actions.githubusercontent.com'
const gitlab = 'https://gitlab.com'
const cluster = 'https://cluster.example.com'
const entra = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0'
const google = 'https://accounts.google.com'
const aws = 'https://11111111-2222-3333-4444-555555555555.tokens.sts.global.api.aws'

const withoutOwner: readonly (readonly [issuer: string, ClaimPatterns])[] = [
  [github, { ref: 'refs/heads/release' }],
  [github, { environment: 'production', event_name: 'push' }],
  // The name of an owner can be registered again.
  [github, { repository_owner: 'example' }],
  [github, { repository: 'example/*' }],
  [github, { repository: 'https://github.com/example/billing' }],
  [github, { sub: 'repo:*' }],
  [github, { sub: 'repo:example/*' }],
  [github, { repository_id: true }],
  [github, { constructor: 'Example', hasOwnProperty: 'x' }],
  [`${github}/example-enterprise`, { ref: 'refs/heads/release' }],
  [gitlab, { ref_protected: 'true' }],
  [gitlab, { project_path: 'billing/' }],
  [gitlab, { sub: 'project_path:*' }],
  ['https://kubernetes.default.svc.cluster.local', { aud: 'https://auth.example.com' }],
  ['https://oidc.eks.eu-central-1.amazonaws.com/id/AB12', { sub: 'system:*' }],
  [cluster, { sub: 'system:serviceaccount:*' }],
  [cluster, { sub: 'system:serviceaccount:billing:*' }],
  [cluster, { 'kubernetes.io': { namespace: 'billing' } }],
  [cluster, { 'kubernetes.io': { serviceaccount: { name: 'api' } } }],
  [entra, { tid: '11111111-2222-3333-4444-555555555555' }],
  [entra, { azp: '66666666-7777-8888-9999-000000000000' }],
  ['https://sts.windows.net/11111111-2222-3333-4444-555555555555/', { roles: 'Billing.Read' }],
  [google, { email_verified: true }],
  [google, { hd: 'example.com' }],
  ['accounts.google.com', { azp: '1234' }],
  [aws, { 'https://sts.amazonaws.com/': { source_region: 'eu-central-1' } }],
]

const withOwner: readonly (readonly [issuer: string, ClaimPatterns])[] = [
  [github, { repository: 'example/billing', ref: 'refs/heads/main' }],
  [github, { repository_id: '74' }],
  [github, { repository_owner_id: 65, environment: 'production' }],
  [github, { sub: 'repo:example/billing:environment:production' }],
  [github, { sub: 'repo:example@65/billing@74:*' }],
  [gitlab, { project_path: 'example/tools/billing' }],
  [gitlab, { project_path: 'example/*' }],
  [gitlab, { namespace_path: 'example' }],
  [gitlab, { project_id: '42' }],
  [gitlab, { sub: 'project_path:example/billing:ref_type:branch:ref:main' }],
  [cluster, { sub: 'system:serviceaccount:billing:api' }],
  [cluster, { 'kubernetes.io': { namespace: 'billing', serviceaccount: { name: 'api' } } }],
  [entra, { tid: '11111111-2222-3333-4444-555555555555', appid: '66666666-7777-8888-9999-000000000000' }],
  [google, { sub: '112233445566778899000' }],
  [google, { email: 'billing@example.iam.gserviceaccount.com' }],
  [aws, { sub: 'arn:aws:iam::123456789012:role/billing' }],
  ['https://ci.example.com', { ref: 'refs/heads/main' }],
]

describe('a rule for an issuer that many share', () => {
  it.each(withoutOwner)('of %s is rejected without an owner: %j', (issuer, claims) => {
    expect(missingOwner(issuer, claims)).toMatch(/^must contain .+: .+ issues such JWTs to others too$/)
    const rules = [{ clientId: 'billing', claims }]
    const settings = {
      issuer,
      jwksUrl: 'https://keys.example.com',
      audiences: [],
      detectReplay: false,
      rules,
    }
    expect(() => rejectInvalidIssuers([settings])).toThrow(
      `The rule of "${issuer}" for "billing" must contain `,
    )
  })

  it.each(withOwner)('of %s is accepted with one: %j', (issuer, claims) => {
    expect(claimPatterns.safeParse(claims).success).toBe(true)
    expect(missingOwner(issuer, claims)).toBeUndefined()
  })

  it('is one that its preset begins with', () => {
    for (const name of presetNames) {
      const preset = presets[name]
      const issuer = 'issuer' in preset ? preset.issuer : preset.issuerExample
      expect(missingOwner(issuer, preset.claims), name).toBeUndefined()
    }
  })

  it('is recognised by what it says, if the issuer can have any name', () => {
    expect(presetOf(cluster, [])).toBeUndefined()
    expect(presetOf(cluster, [{ claims: { sub: 'system:serviceaccount:a:b' } }])).toBe(presets.kubernetes)
  })
})

describe('the claims of a rule', () => {
  it('have texts with a * only after a separator at the end, and numbers and truth values', () => {
    const valid = [{ sub: 'project:orders:*' }, { a: { b: [1, 2][0]!, c: false } }, { a: 'x/*' }]
    for (const claims of valid) expect(claimPatterns.safeParse(claims).success).toBe(true)
    const invalid = [{ sub: '*' }, { sub: 'orders*' }, { sub: 'a:*:b' }, { a: [1] }, { a: null }, { a: {} }]
    for (const claims of invalid) expect(claimPatterns.safeParse(claims).success).toBe(false)
  })

  it('are at most as many as the form has lines', () => {
    const claims = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_none, index) => [`claim ${index}`, index]))
    expect(claimPatterns.safeParse(claims(maxClaims)).success).toBe(true)
    expect(claimPatterns.safeParse(claims(maxClaims + 1)).success).toBe(false)
  })
})

it('are shown in the lines of a form, which return the same claims', () => {
  const claims = { id: '74', count: 74, 'example.com/ci': { pod: { name: 'a' }, main: true } }
  expect(readClaims(claimValues(claims), cluster + '/')).toEqual({ data: claims })
})
