import { expect, it, vi } from 'vitest'
import type { ActivityRecorder } from '../../src/storage/activity-recorder.ts'
import { createErrorRecorder } from '../../src/http/error-handling.ts'
import { ProtocolError, type ErrorReason } from '../../src/oauth/protocol-error.ts'
import { tokenPath } from '../test-service.ts'

it.each([
  [400, 'malformed_request', 0],
  [499, 'malformed_request', 0],
  [500, 'internal', 1],
  [undefined, 'internal', 1],
])('an error of the HTTP layer with status %s is %s', (statusCode, reason, logged) => {
  const log = { error: vi.fn() }
  const thrown = Object.assign(new Error('The client hung up.'), { statusCode })
  const record = createErrorRecorder({ shape: 'platform' })
  expect(record(thrown, { path: '/', ip: '192.0.2.1', log }).reason).toBe(reason)
  expect(log.error).toHaveBeenCalledTimes(logged)
})

it('an error of a client is reported without an audit log too', () => {
  const log = { error: vi.fn() }
  const error = new ProtocolError('invalid_client', { clientId: 'demo-client' })
  const record = createErrorRecorder({ shape: 'platform' })
  expect(record(error, { path: tokenPath, ip: '192.0.2.1', log })).toBe(error)
  expect(log.error).not.toHaveBeenCalled()
})

it.each<[reason: ErrorReason, isAudited: boolean]>([
  ['invalid_client', true],
  ['expired_secret', true],
  ['credentials_in_query', true],
  ['malformed_request', false],
  ['internal', false],
])('the audit log contains failed authentications, and nothing else: %s', (reason, isAudited) => {
  const activity = { audit: vi.fn<ActivityRecorder['audit']>() }
  const record = createErrorRecorder({ shape: 'platform', activity: activity as never })
  const error = new ProtocolError(reason, { clientId: 'demo-client' })
  record(error, { path: '/introspect', ip: '192.0.2.1', log: { error: vi.fn() } })
  const event = {
    event: 'request_rejected',
    detail: reason,
    clientId: 'demo-client',
    address: '192.0.2.1',
  }
  expect(activity.audit.mock.calls).toStrictEqual(isAudited ? [[event]] : [])
})
