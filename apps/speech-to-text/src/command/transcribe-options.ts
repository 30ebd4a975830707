import { Command, InvalidArgumentError, Option } from 'commander'
import { clientNames, type ClientName } from '../clients/create-speech-client.ts'

export interface TranscribeOptions {
  readonly client: ClientName
  readonly concurrency: number
  readonly retries: number
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
}

const notes = `
FILE is a WAV recording, a folder, a glob pattern, or - for standard input.

Without AUTH_URL, a token service and a speech API are started on this machine. To use others, set
AUTH_URL, SPEECH_URL, CLIENT_ID and CLIENT_SECRET (or CONSUMER_KEY and CONSUMER_SECRET).

Exit codes:
  0  all recordings were transcribed
  1  a service could not be reached or rejected the request, or an environment variable is missing or invalid
  2  an option is invalid, and nothing was transcribed; or a recording failed, and the others were transcribed`

/** Defines the command line of `transcribe`. */
export function transcribeCommand(
  run: (files: readonly string[], options: TranscribeOptions) => Promise<void>,
): Command {
  return new Command('transcribe')
    .description('Transcribes recordings of speech and prints one line for each.')
    .usage('[options] FILE...')
    .argument('<FILE...>')
    .addOption(
      new Option('--client <name>', 'HTTP client for the speech API').choices(clientNames).default('fetch'),
    )
    .option('--concurrency <number>', 'number of recordings transcribed at the same time', integer(1, 100), 4)
    .option('--retries <number>', 'number of retries when a service cannot be reached', integer(0, 20), 4)
    .option('--json', 'print one JSON object per line, with segments and times')
    .option('--quiet', 'print no summary')
    .addHelpText('after', notes)
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? 0 : 2)
    })
    .action(run)
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`)
  }
}
