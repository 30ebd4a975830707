import { expect, it, vi } from 'vitest'
import { createErrorRecorder } from '../../src/http/error-handling.ts'
import { ProtocolError } from '../../src/protocol/protocol-error.ts'
import { tokenPath } from '../test-service.ts'

it.each([
  [400, 'malformed_request', 0],
  [499, 'malformed_request', 0],
  [500, 'internal', 1],
  [undefined, 'internal', 1],
])('an error of the HTTP layer with status %s is %s', (statusCode, reason, logged) => {
  const log = { error: vi.fn() }
  const thrown = Object.assign(new Error('The client hung up.'), { statusCode })
  const record = createErrorRecorder({ shape: 'classic' })
  expect(record(thrown, { path: '/', ip: '192.0.2.1', log }).reason).toBe(reason)
  expect(log.error).toHaveBeenCalledTimes(logged)
})

it('an error of a client is reported without an audit log too', () => {
  const log = { error: vi.fn() }
  const error = new ProtocolError('invalid_client', { clientId: 'demo-client' })
  const record = createErrorRecorder({ shape: 'classic' })
  expect(record(error, { path: tokenPath, ip: '192.0.2.1', log })).toBe(error)
  expect(log.error).not.toHaveBeenCalled()
})
