import type { FastifyBaseLogger } from 'fastify'
import type * as Pino from 'pino'
import { load } from '../platform/load.ts'

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

const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent', 'child'] as const

/** Loads pino when it is first used. */
export function createServiceLogger(level: string): FastifyBaseLogger {
  let logger: Pino.Logger | undefined
  const calls = methods.map((method) => [
    method,
    (...args: unknown[]) => Reflect.apply((logger ??= createLogger(level))[method], logger, args) as unknown,
  ])
  return { level, ...Object.fromEntries(calls) } as FastifyBaseLogger
}

/** No secret is ever passed to the log; redaction is a second line of defence. */
function createLogger(level: string): Pino.Logger {
  const { pino } = load('pino')
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino({ level, redact: { paths, censor: '[redacted]' } }, standardOutput(pino))
}

/** If it cannot be written, as on a full disk, the service goes on: up to 1 MB waits, and the rest is lost. */
function standardOutput(pino: typeof Pino.pino): Pino.DestinationStream {
  const destination = pino.destination({ fd: process.stdout.fd, minLength: 0, maxLength: 1_000_000 })
  const flushSync = destination.flushSync.bind(destination)
  // At the exit of the process it would try again for ever.
  destination.on('error', () => (destination.flushSync = () => {}))
  destination.on('write', () => (destination.flushSync = flushSync))
  return destination
}
