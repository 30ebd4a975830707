import { expect, it } from 'vitest'
import { application, introspect, requestToken, testService } from '../test-service.ts'

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
