import { styleText } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { levels, pino, stdSerializers, type DestinationStream } from 'pino'

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
export function createServiceLogger(level: string, destination: DestinationStream): FastifyBaseLogger {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  const redact = { paths, censor: '[redacted]' }
  return pino({ level, redact, serializers: { err: describeError } }, destination)
}

/** Of an error, nothing that a library has attached to it. */
function describeError(error: Error) {
  const { type, message, stack, code } = stdSerializers.err(error)
  return { type, message, stack, code: code as unknown }
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

/**
 * Opens the log. On a terminal it has lines for people, which wait until it is disposed of; whatever else reads it gets
 * JSON at once.
 */
export function holdLog(): DestinationStream & Disposable {
  if (!process.stdout.isTTY) return Object.assign(standardOutput(), { [Symbol.dispose]() {} })
  process.stdout.on('error', () => {})
  let held: string[] | undefined = []
  const show = (line: string): void => void process.stdout.write(describeEntry(JSON.parse(line) as LogEntry))
  return {
    write: (line) => void (held ? held.push(line) : show(line)),
    [Symbol.dispose]() {
      for (const line of held ?? []) show(line)
      held = undefined
    },
  }
}

interface LogEntry {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly [name: string]: unknown
}

const colours: Readonly<Record<string, 'red' | 'yellow' | 'gray'>> = {
  error: 'red',
  fatal: 'red',
  warn: 'yellow',
}

/** Such as `12:30:01 POST /oauth/introspect 200 in 3.1 ms, clientId=api`. */
export function describeEntry({
  level,
  time,
  msg = '',
  pid: _pid,
  hostname: _hostname,
  err,
  ...rest
}: LogEntry): string {
  const { method, path, status, ms, ...others } = msg === 'request' ? rest : { ...rest, status: undefined }
  const name = levels.labels[level] ?? 'info'
  const colour = colours[name] ?? (Number(status) >= 400 ? 'yellow' : undefined)
  const what =
    msg === 'request' ? `${plain(method)} ${plain(path)} ${plain(status)} in ${plain(ms)} ms` : plain(msg)
  const label = name === 'info' ? '' : `${name}: `
  const details = Object.entries(others).flatMap(([each, value]) =>
    value === undefined ? [] : `, ${each}=${plain(value)}`,
  )
  const stack =
    typeof err === 'object' && err !== null && 'stack' in err
      ? `\n${String(err.stack).split('\n').map(plain).join('\n')}`
      : ''
  const text = `${label}${what}`
  const clock = new Date(time).toTimeString().slice(0, 8)
  return `${styleText('gray', clock)} ${colour ? styleText(colour, text) : text}${styleText('gray', details.join(''))}${stack}\n`
}

/** A client cannot send control characters to the terminal. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
