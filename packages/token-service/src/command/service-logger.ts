import { pino, type Logger } from 'pino'

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

/** Nothing secret is ever handed to the log; should it be one day, it still does not get in. */
export function createServiceLogger(level: string): Logger {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino({ level, redact: { paths, censor: '[redacted]' } })
}
