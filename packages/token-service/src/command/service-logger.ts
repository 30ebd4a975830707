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

/** No secret is ever passed to the log; redaction is a second line of defence. */
export function createServiceLogger(level: string): Logger {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino({ level, redact: { paths, censor: '[redacted]' } })
}
