import { secureUrl } from '@tokenwell/core/protocol'
import { Command } from 'commander'
import { addConnectionFlags, credentialsHelp, type ConnectionFlags } from '../connection/flags.ts'
import { resolveConnection } from '../connection/resolve.ts'
import { exitCode, UsageError, type ExitCode } from '../errors.ts'
import type { CommandContext } from '../output.ts'
import { createReporter } from './reporter.ts'
import { addressOf, runChecks } from './run-checks.ts'

interface DoctorFlags extends ConnectionFlags {
  readonly json?: true
  readonly tryWrongSecret?: true
  readonly apiUrl?: string
}

export function doctorCommand(context: CommandContext, end: (code: ExitCode) => void): Command {
  const command = new Command('doctor')
    .description(
      'Requests a token and reports problems with DNS, the network, the certificate, the response, the lifetime and clocks.',
    )
    .option('--api-url <url>', 'also call this API with the token')
    .option(
      '--try-wrong-secret',
      "also send one request with a wrong secret; it may count against the service's rate limit",
    )
    .option('--json', 'print the findings as JSON')
  return addConnectionFlags(command)
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: DoctorFlags) => {
      if (flags.grant !== 'client-credentials')
        throw new UsageError(
          'tokenwell doctor checks client credentials. Use tokenwell token for --grant jwt-bearer.',
        )
      // Plain HTTP is a finding.
      const apiUrl = flags.apiUrl === undefined ? undefined : secureUrl('--api-url', flags.apiUrl, true)
      const connection = await resolveConnection(flags, context, { allowPlainHttp: true })
      const reporter = createReporter(context.stdout, flags.json ?? false)
      reporter.begin(addressOf(connection))
      const { tryWrongSecret } = flags
      const options = { limitMs: flags.timeout * 1000, tryWrongSecret, apiUrl, env: context.env }
      for await (const found of runChecks(connection, options)) {
        reporter.add(found)
        if ('level' in found && found.level === 'problem') end(exitCode.rejected)
      }
      reporter.end()
    })
}

const examples = `
Sends one token request, and a second one if a Retry-After header allows it
within --timeout. Never prints the secret or the token. The exit code is 1 if
there is a problem, and 0 if there are only warnings.

Examples:
  tokenwell doctor --auth-url https://auth.example.com --credentials service.env
  tokenwell doctor --json | jq '.findings[] | select(.level != "ok")'`
