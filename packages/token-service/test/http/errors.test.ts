import { pino } from 'pino'
import { expect, it, vi, describe } from 'vitest'
import { createErrorRecorder, createFailureLog } from '../../src/http/error-handling.ts'
import { ProtocolError, type ErrorReason } from '../../src/oauth/protocol-error.ts'
import type { ActivityRecorder } from '../../src/storage/activity-recorder.ts'
import { Overloaded, StorageFailure } from '../../src/storage/storage-failure.ts'
import { tokenPath } from '../test-service.ts'

it.each([
  [400, 'malformed_request', 0],
  [499, 'malformed_request', 0],
  [500, 'internal', 1],
  [undefined, 'internal', 1],
])('an error of the HTTP layer with status %s is %s', (statusCode, reason, logged) => {
  const log = { error: vi.fn() }
  const thrown = Object.assign(new Error('The client hung up.'), { statusCode })
  const record = createErrorRecorder({ format: 'platform' })
  expect(record(thrown, { path: '/', ip: '192.0.2.1', log }).reason).toBe(reason)
  expect(log.error).toHaveBeenCalledTimes(logged)
})

it('too much at once is reported with the time to wait, and logged by nobody', () => {
  const log = { error: vi.fn() }
  const record = createErrorRecorder({ format: 'platform', logFailure: log.error })
  const { reason, details } = record(new Overloaded(), { path: tokenPath, ip: '192.0.2.1', log })
  expect([reason, details]).toEqual(['overloaded', { retryAfterSeconds: 1 }])
  expect(log.error).not.toHaveBeenCalled()
})

it('an error of a client is reported without an audit log too', () => {
  const log = { error: vi.fn() }
  const error = new ProtocolError('invalid_client', { clientId: 'demo-client' })
  const record = createErrorRecorder({ format: 'platform' })
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
  const activity = { count: vi.fn<ActivityRecorder['count']>() }
  const record = createErrorRecorder({ format: 'platform', activity: activity as never })
  const error = new ProtocolError(reason, { clientId: 'demo-client' })
  record(error, { path: '/introspect', ip: '192.0.2.1', log: { error: vi.fn() } })
  const event = {
    event: 'request_rejected',
    detail: reason,
    clientId: 'demo-client',
    address: '192.0.2.1',
  }
  expect(activity.count.mock.calls).toStrictEqual(isAudited ? [[event]] : [])
})

describe('the log of failures', () => {
  it('has one line per minute while the storage fails, with the number of failures', () => {
    let nowMs = 0
    const lines: string[] = []
    const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    const log = createFailureLog(logger, () => nowMs)
    for (let second = 0; second < 150; second += 1) {
      nowMs = second * 1_000
      log(new StorageFailure(new Error('disk full')))
    }
    const line = (failures: number) => ({ level: 50, failures, msg: 'The storage failed: disk full' })
    expect(lines.map((each): unknown => JSON.parse(each))).toEqual([line(1), line(60), line(60)])
  })

  it('has every other error in full', () => {
    const lines: string[] = []
    const log = createFailureLog(pino({}, { write: (line) => void lines.push(line) }))
    log(new TypeError('first'))
    log(new TypeError('second'))
    expect(lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)).toEqual([
      'first',
      'second',
    ])
  })
})
