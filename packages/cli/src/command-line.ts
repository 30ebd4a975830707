import { readFileSync } from 'node:fs'
import addCompletion from '@bomb.sh/tab/commander'
import { Command, CommanderError } from 'commander'
import { doctorCommand } from './doctor/doctor-command.ts'
import { describeFailure, exitCode } from './errors.ts'
import { type CommandContext, printFailure } from './output.ts'
import { proxyCommand } from './proxy/proxy-command.ts'
import { sandboxCommand } from './sandbox-command.ts'
import { logoutCommand, tokenCommand } from './token-command.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Runs the command line with this process's streams, signals and exit code. */
export async function runProcess(): Promise<void> {
  // `tokenwell doctor | head -1` closes the pipe early, which is not an error.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(exitCode.ok)
    printFailure(process, `The output cannot be written (${code}).`, [])
    process.exit(exitCode.unwritable)
  })
  // Messages that nobody reads change no exit code.
  process.stderr.on('error', () => {})
  process.on('SIGINT', () => {
    // A command that runs until it is interrupted ends by itself.
    if (process.listenerCount('SIGINT') === 1) process.exit(exitCode.interrupted)
  })

  process.exitCode = await runCommandLine(process.argv)
  // A connection that does not end, such as one to a proxy, keeps no process running that has its result.
  setTimeout(() => process.exit(), 500).unref()
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
      // Printed below, as all other errors.
      outputError: () => {},
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
    const isHelp = error instanceof CommanderError && !error.message.startsWith('error:')
    if (isHelp) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
    const failure = describeFailure(error)
    const { message, hints, status } = failure
    if (argv.includes('--json')) {
      const description = [message, ...hints].join(' ')
      context.stdout.write(
        `${JSON.stringify({ error: failure.error, error_description: description, status })}\n`,
      )
    }
    printFailure(context, message, hints)
    return failure.exitCode
  }
}

const help = `
Exit codes:
  0    success
  1    the token endpoint rejected the request, or doctor found a problem
  2    usage error: an option, a file or a variable is missing or invalid
  3    no valid response: unreachable, overloaded, or a malformed response
  70   internal error: please report it
  74   the output cannot be written
  130  interrupted

Examples:
  tokenwell token --auth-url https://auth.example.com
  tokenwell token --header | curl -H @- "$API_URL/v1/orders"
  tokenwell doctor --auth-url https://auth.example.com
  source <(tokenwell completion bash)
  tokenwell sandbox`
