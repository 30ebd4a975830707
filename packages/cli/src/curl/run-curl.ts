import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import type { AccessToken } from '@tokenwell/core'
import { UsageError } from '../usage-error.ts'

/**
 * curl reads the token from a pipe and keeps standard input. Node's own extra pipes are sockets, which cannot be opened
 * by name, so the shell creates one.
 */
const script = `command -v curl >/dev/null || exit 127
exec 4<&0
cat <&3 | curl --disable --config /dev/fd/5 "$@" 5<&0 0<&4 3<&- 4<&-`

/**
 * Runs curl with the token.
 *
 * @returns the exit code of curl
 */
export async function runCurl(
  url: URL,
  args: readonly string[],
  token: AccessToken,
  { CLIENT_SECRET: _secret, CONSUMER_SECRET: _consumer, TOKEN_CACHE_KEY: _key, ...env }: NodeJS.ProcessEnv,
): Promise<number> {
  // Windows has neither: there, standard input is the pipe.
  const isWindows = process.platform === 'win32'
  const child = isWindows
    ? spawn('curl', ['--disable', '--config', '-', ...args], { env, stdio: ['pipe', 'inherit', 'inherit'] })
    : spawn('sh', ['-c', script, 'sh', ...args], { env, stdio: ['inherit', 'inherit', 'inherit', 'pipe'] })
  const pipe = child.stdio[isWindows ? 0 : 3] as Writable | null
  // curl may end before it has read everything.
  pipe?.on('error', () => {})
  pipe?.end(configuration(url, token))
  const [code, signal] = (await once(child, 'close').catch(() => [127, null])) as [
    number | null,
    NodeJS.Signals | null,
  ]
  if (code === 127) throw new UsageError('curl is not installed. Install it.')
  return code ?? 128 + constants.signals[signal!]
}

/** One request: {} and [] in the URL mean themselves, and a proxy never sees a token in plain text. */
function configuration(url: URL, token: AccessToken): string {
  return [
    'globoff',
    ...(url.protocol === 'http:' ? ['noproxy = "*"'] : []),
    `url = ${quote(url.href)}`,
    `header = ${quote(`Authorization: Bearer ${token.value}`)}\n`,
  ].join('\n')
}

/** As curl reads values of its configuration. */
function quote(value: string): string {
  return `"${value.replace(/[\\"]/g, String.raw`\$&`)}"`
}
