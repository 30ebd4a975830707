import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { accessTokenHash, createAccessToken } from '../../src/oauth/token-storage.ts'
import { application, introspect, requestToken, testService } from '../test-service.ts'

const nowMs = Date.UTC(2026, 0, 1)
const digest = (token: string): string => hash('sha256', token, 'base64url')

it('creates tokens of the time of issue and 256 random bits', () => {
  const tokens = Array.from({ length: 1_000 }, () => createAccessToken(nowMs))
  expect(new Set(tokens.map((token) => parseInt(token.slice(0, 8), 36)))).toEqual(new Set([nowMs]))
  const random = tokens.map((token) => token.slice(8))
  expect(new Set(random).size).toBe(1_000)
  for (const part of random) expect(Buffer.from(part, 'base64url').toString('base64url')).toBe(part)
  expect(new Set(random.map((part) => Buffer.from(part, 'base64url').length))).toEqual(new Set([32]))
})

it('stores tokens by hashes that sort by time of issue and contain no other part of the token', () => {
  const times = [0, 1, 35, 36, nowMs, nowMs + 1, nowMs + 1_000, nowMs + 86_400_000, Date.UTC(2059, 0, 1)]
  const tokens = times.map(createAccessToken)
  const hashes = tokens.map(accessTokenHash)
  expect(hashes.toSorted()).toEqual(hashes)
  expect(hashes).toEqual(tokens.map((token) => token.slice(0, 8) + digest(token)))
})

it.each([
  ['without a time', 'a'.repeat(43)],
  ['that is empty', ''],
  ['with characters that PostgreSQL rejects', '\0'.repeat(8) + 'a'.repeat(43)],
  ['with upper-case letters in the time', 'MJULK0QO' + 'a'.repeat(43)],
  ['that is too long', 'a'.repeat(52)],
  ['with a line break', `${'a'.repeat(51)}\n`],
])('uses only the digest of a token %s', (_which, token) => {
  expect(accessTokenHash(token)).toBe(digest(token))
})

it.each([
  [undefined, 3_600],
  ['2026-01-01T00:01:30.500Z', 91],
  ['2026-01-01T00:01:30Z', 90],
  ['2026-01-02T00:00:00Z', 3_600],
])('a token expires with its secret, if that expires before: %s', async (clientSecretExpiresAt, seconds) => {
  const time = { now: Date.UTC(2026, 0, 1) }
  const { authUrl } = await testService({
    clock: { now: () => time.now },
    applications: [{ ...application, clientSecretExpiresAt }],
  })
  const { body } = await requestToken(authUrl)
  expect(body.expires_in).toBe(String(seconds))
  const isActiveAt = async (nowMs: number) => {
    time.now = nowMs
    return (await introspect(authUrl, body.access_token)).body.active
  }
  const expiryMs = Math.min(time.now + 3_600_000, Date.parse(clientSecretExpiresAt ?? '9999-01-01T00:00:00Z'))
  expect([await isActiveAt(expiryMs - 1), await isActiveAt(expiryMs)]).toEqual([true, false])
})
