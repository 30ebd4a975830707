import { Command } from 'commander'
import {
  addConnectionOptions,
  credentialsHelp,
  type ConnectionFlags,
} from '../connection/connection-options.ts'
import { resolveConnection } from '../connection/resolve-connection.ts'
import { exitCode, type ExitCode } from '../exit-code.ts'
import type { Surroundings } from '../surroundings.ts'
import { addressOf, examine } from './examine.ts'
import { createReporter } from './reporter.ts'

interface DoctorFlags extends ConnectionFlags {
  readonly json?: true
  readonly tryWrongSecret?: true
}

export function doctorCommand(surroundings: Surroundings, end: (code: ExitCode) => void): Command {
  return addConnectionOptions(
    new Command('doctor').description(
      'Asks for a token and says what is wrong: name, network, certificate, answer, lifetime, clocks.',
    ),
  )
    .option(
      '--try-wrong-secret',
      'also ask once with a wrong secret; may count against a limit of the service',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: DoctorFlags) => {
      const connection = await resolveConnection(flags, surroundings)
      const url = addressOf(connection)
      const reporter = createReporter(surroundings.stdout, flags.json ?? false)
      reporter.begin(url)
      const { tryWrongSecret } = flags
      const options = { limitMs: flags.timeout * 1000, tryWrongSecret, env: surroundings.env }
      for await (const found of examine(connection, options)) {
        reporter.add(found)
        if ('level' in found && found.level === 'problem') end(exitCode.refused)
      }
      reporter.end()
    })
}

const examples = `
It makes one token request, and shows neither secret nor token. Ends with 1 if there is a problem, with 0 if there
are at most warnings.

Examples:
  tokenwell doctor --auth-url https://auth.example.com --credentials service.env
  tokenwell doctor --json | jq '.findings[] | select(.level != "ok")'`
