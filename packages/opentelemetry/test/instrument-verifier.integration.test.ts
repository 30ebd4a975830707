import { instrumentVerifier } from '@tokenwell/opentelemetry'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { expect, it } from 'vitest'
import { useTelemetry } from './telemetry.ts'

const telemetry = useTelemetry()

it('counts verified requests by outcome, times checks, and exports no token or client ID', async () => {
  const { verifier, createTestToken } = createTestVerifier()
  const stop = instrumentVerifier(verifier, { ...telemetry, name: 'orders' })
  const token = createTestToken({ clientId: 'a-client' })
  await verifier.verify(`Bearer ${token}`)
  await verifier.verify(undefined).catch(() => {})
  await verifier.verify(`Bearer ${token}`, { products: ['orders'] }).catch(() => {})
  stop()
  await verifier.verify(`Bearer ${token}`)
  await telemetry.flush()
  const points = telemetry.receiver.points()
  const name = { 'tokenwell.verifier.name': 'orders' }
  const outcomes = points.filter(({ metric }) => metric === 'tokenwell.verification.requests')
  expect(outcomes.map(({ value, attributes }) => ({ value, attributes }))).toEqual([
    {
      value: 1,
      attributes: { ...name, 'tokenwell.verification.result': 'accepted', 'tokenwell.cached': false },
    },
    {
      value: 1,
      attributes: {
        ...name,
        'tokenwell.verification.result': 'missing_token',
        'http.response.status_code': 401,
      },
    },
    {
      value: 1,
      attributes: {
        ...name,
        'tokenwell.verification.result': 'insufficient_scope',
        'http.response.status_code': 403,
      },
    },
  ])
  const [check] = points.filter(({ metric }) => metric === 'tokenwell.verification.check.duration')
  expect(check).toMatchObject({
    unit: 's',
    count: 2,
    attributes: { ...name, 'tokenwell.check.method': 'introspection', 'tokenwell.check.result': 'valid' },
  })
  const exported = JSON.stringify(telemetry.receiver.requests)
  for (const secret of [token, 'a-client']) expect(exported).not.toContain(secret)
})
