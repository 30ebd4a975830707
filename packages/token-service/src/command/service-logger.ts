import type { FastifyBaseLogger } from 'fastify'
import { pino, type DestinationStream } from 'pino'

const secretNames = [
  'client_secret',
  'clientSecret',
  'access_token',
  'token',
  'authorization',
  'password',
  'cookie',
  'keys',
]

/** No secret is ever passed to the log; redaction is a second line of defence. */
export function createServiceLogger(level: string): FastifyBaseLogger {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino({ level, redact: { paths, censor: '[redacted]' } }, standardOutput())
}

/** If it cannot be written, as on a full disk, the service goes on: up to 1 MB waits, and the rest is lost. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ fd: process.stdout.fd, minLength: 0, maxLength: 1_000_000 })
  const flushSync = destination.flushSync.bind(destination)
  // At the exit of the process it would try again for ever.
  destination.on('error', () => (destination.flushSync = () => {}))
  destination.on('write', () => (destination.flushSync = flushSync))
  return destination
}
