import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { secureUrl } from '@tokenwell/core/protocol'
import { Command } from 'commander'
import {
  addConnectionFlags,
  credentialsHelp,
  wholeNumber,
  type ConnectionFlags,
} from '../connection/flags.ts'
import { resolveTokens, type Missing } from '../connection/resolve.ts'
import { readPrivateFile } from '../connection/private-file.ts'
import { UsageError } from '../errors.ts'
import { type CommandContext, info } from '../output.ts'
import { startProxy } from './start-proxy.ts'

interface ProxyFlags extends ConnectionFlags {
  readonly to?: string
  readonly port: number
  readonly pathFile?: string
}

export function proxyCommand(context: CommandContext): Command {
  const command = new Command('proxy')
    .description('Forwards requests of programs on this machine to one API, and attaches tokens to them.')
    .option('--to <url>', 'base URL of the API')
    .option('--port <number>', 'port to listen on; 0 selects a free port', wholeNumber(0, 65_535), 0)
    .option(
      '--path-file <file>',
      'private file that keeps the secret path of the URL; it is created if it is missing',
    )
  return addConnectionFlags(command)
    .addHelpText('after', credentialsHelp + examples)
    .action((flags: ProxyFlags) => runProxy(flags, context))
}

const missingTarget: Missing = {
  name: '--to',
  hint: 'API: pass --to with its base URL, such as https://api.example.com/v1.',
}

async function runProxy(flags: ProxyFlags, context: CommandContext): Promise<void> {
  const target = flags.to === undefined ? undefined : targetOf(flags.to, flags.allowInsecure)
  const settings = { timeoutMs: flags.timeout * 1000 }
  const missing = target ? [] : [missingTarget]
  await using tokens = await resolveTokens(flags, context, settings, { missing })
  const { port, allowInsecure: allowInsecureRequests, pathFile } = flags
  const path = pathFile === undefined ? newPath() : await readPath(pathFile)
  const proxy = await startProxy({ target: target!, tokens, port, path, allowInsecureRequests })
  context.stdout.write(`${proxy.url}\n`)
  info(
    context,
    `Use this URL instead of ${target!.href}. Anybody who knows it can call the API. Stop with Ctrl+C.`,
  )
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await proxy.close()
}

/** The secret that programs must know to use the proxy. */
function newPath(): string {
  return randomBytes(24).toString('base64url')
}

/** @throws {UsageError} if the file cannot be used, or other users may read it */
async function readPath(file: string): Promise<string> {
  const created = newPath()
  try {
    await writeFile(file, `${created}\n`, { flag: 'wx', mode: 0o600 })
    return created
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new UsageError(`Could not create ${file} (${code}).`)
  }
  const path = (await readPrivateFile(file)).trim()
  if (/^[\w-]{32,128}$/.test(path)) return path
  throw new UsageError(
    `${file} contains no path of a proxy: 32 to 128 letters, digits, - and _. Remove it, so that it is created again.`,
  )
}

/** @throws if it is not one; the error does not quote the URL, which may contain a password */
function targetOf(to: string, allowInsecure: boolean | undefined): URL {
  const url = secureUrl('--to', to, allowInsecure)
  if (!url.search) return url
  throw new UsageError('--to must not contain a query. Pass the base URL of the API.')
}

const examples = `
Examples:
  tokenwell proxy --to https://api.example.com/v1
  curl "$PROXY_URL/orders"`
