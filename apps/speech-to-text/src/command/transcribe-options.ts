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
A FILE is a WAV recording, a folder of them, a glob pattern, or - for standard input.

Without AUTH_URL, a token service and a speech API are started on this machine. To use others, set
AUTH_URL, SPEECH_URL, CLIENT_ID and CLIENT_SECRET (or CONSUMER_KEY and CONSUMER_SECRET).

Exit codes: 0 all recordings are transcribed; 2 a recording or an option is wrong, the other recordings
are transcribed; 1 a service does not answer, or the credentials are refused.`

/** The command line of `transcribe`; `run` is called with what was asked for. */
export function transcribeCommand(
  run: (files: readonly string[], options: TranscribeOptions) => Promise<void>,
): Command {
  return new Command('transcribe')
    .description('Turns recordings of speech into text, one line each.')
    .usage('[options] FILE...')
    .argument('<FILE...>')
    .addOption(
      new Option('--client <name>', 'HTTP client to call the speech API with')
        .choices(clientNames)
        .default('fetch'),
    )
    .option('--concurrency <number>', 'recordings under way at once', wholeNumber(1, 100), 4)
    .option(
      '--retries <number>',
      'how often to try again when a service does not answer',
      wholeNumber(0, 20),
      4,
    )
    .option('--json', 'one JSON object a line, with segments and times')
    .option('--quiet', 'no summary')
    .addHelpText('after', notes)
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? 0 : 2)
    })
    .action(run)
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}
