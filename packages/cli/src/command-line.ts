import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import addCompletion from '@bomb.sh/tab/commander'
import { Command, CommanderError } from 'commander'
import { doctorCommand } from './doctor/doctor-command.ts'
import { exitCode, exitCodeOf } from './command-errors.ts'
import { explainError } from './explain-error.ts'
import { proxyCommand } from './proxy/proxy-command.ts'
import { sandboxCommand } from './sandbox/sandbox-command.ts'
import { type CommandContext, printable } from './output.ts'
import { logoutCommand, tokenCommand } from './token/token-command.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** @returns the exit code of the process */
export async function runCommandLine(
  argv: readonly string[],
  context: CommandContext = process,
): Promise<number> {
  let ended: number = exitCode.ok
  const end = (code: number): void => void (ended = code)
  const program = new Command('tokenwell')
    .description('OAuth 2.0 client-credentials tokens from the command line.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: (text, write) => write(printable(withoutValues(text))),
    })
    .addHelpText('after', help)
  for (const create of [tokenCommand, logoutCommand, proxyCommand, doctorCommand, sandboxCommand]) {
    program.addCommand(create(context, end).copyInheritedSettings(program))
  }
  addCompletion(program, { completionCommandName: 'completion' })
  try {
    await program.parseAsync(argv)
    return ended
  } catch (error) {
    // commander has printed its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
    const { stderr } = context
    stderr.write(`${styleText('red', 'tokenwell:', { stream: stderr })} ${printable(explainError(error))}\n`)
    return exitCodeOf(error)
  }
}

/** A value that was mistyped may be a secret. */
function withoutValues(text: string): string {
  return text
    .replace(/'(--?[^'=]*)=.*'/s, "'$1=…'")
    .replace(/argument '.*' is invalid/s, "argument '…' is invalid")
    .replace(/unknown command '.*'/s, "unknown command '…'")
    .replace(/(arguments? but got \d+).*$/s, '$1.\n')
}

const help = `
Exit codes:
  0    success
  1    the token endpoint rejected the request, or doctor found a problem
  2    usage error: an option, a file or an environment variable is missing or invalid
  3    no valid response: the endpoint is unreachable or overloaded, or its response is malformed
  70   internal error: please report it
  74   the output cannot be written
  130  interrupted

Examples:
  tokenwell token --auth-url https://auth.example.com
  tokenwell token --header | curl -H @- "$API_URL/v1/orders"
  tokenwell doctor --auth-url https://auth.example.com
  source <(tokenwell completion bash)
  tokenwell sandbox`
