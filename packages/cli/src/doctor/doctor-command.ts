import { Command } from 'commander'
import {
  addConnectionOptions,
  credentialsHelp,
  type ConnectionFlags,
} from '../configuration/connection-options.ts'
import { resolveConnection } from '../configuration/resolve-connection.ts'
import { parseHttpUrl } from '../configuration/option-values.ts'
import { exitCode, type ExitCode, UsageError } from '../command-errors.ts'
import type { CommandContext } from '../output.ts'
import { addressOf, runChecks } from './run-checks.ts'
import { createReporter } from './reporter.ts'

interface DoctorFlags extends ConnectionFlags {
  readonly json?: true
  readonly tryWrongSecret?: true
  readonly apiUrl?: string
}

export function doctorCommand(context: CommandContext, end: (code: ExitCode) => void): Command {
  return addConnectionOptions(
    new Command('doctor').description(
      'Requests a token and reports problems with DNS, the network, the certificate, the response, the lifetime and clocks.',
    ),
  )
    .option(
      '--try-wrong-secret',
      "also send one request with a wrong secret; it may count against the service's rate limit",
    )
    .option('--api-url <url>', 'also call this API with the token')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: DoctorFlags) => {
      if (flags.grant !== 'client-credentials')
        throw new UsageError(
          'tokenwell doctor checks client credentials. Use tokenwell token for --grant jwt-bearer.',
        )
      const connection = await resolveConnection(flags, context, { allowPlainHttp: true })
      const apiUrl = readApiUrl(flags.apiUrl)
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

function readApiUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const url = parseHttpUrl(text)
  if (url !== undefined) return url
  throw new UsageError('--api-url must be an absolute URL, such as https://api.example.com/v1/orders.')
}

const examples = `
Sends one token request, and a second one if a Retry-After header allows it within --timeout. Never prints the
secret or the token. The exit code is 1 if there is a problem, and 0 if there are only warnings.

Examples:
  tokenwell doctor --auth-url https://auth.example.com --credentials service.env
  tokenwell doctor --json | jq '.findings[] | select(.level != "ok")'`
