import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type ClientName, clientNames, createSpeechClient } from '../clients/create-speech-client.ts'
import type { Connection } from '../platform/connection.ts'
import { describeError } from '../platform/describe-error.ts'
import { findPlatform } from '../platform/find-platform.ts'
import { type Expected, type GrammarName, grammarNames } from '../speech/speech-api-response.ts'
import { findRecordings } from './find-recordings.ts'
import { startProgress, plural, printError, printOutcome } from './progress.ts'
import { type Outcome, transcribeAll } from './transcribe-with-retries.ts'

export interface TranscribeOptions {
  readonly client: ClientName
  readonly grammar?: GrammarName | undefined
  /** One per line. */
  readonly phrases?: string | undefined
  readonly text?: string | undefined
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
    .addOption(
      new Option('--grammar <name>', 'what is spoken (default: digits)')
        .choices(grammarNames)
        .conflicts(['phrases', 'text']),
    )
    .addOption(
      new Option('--phrases <file>', 'file with the sentences that may be spoken, one per line')
        .argParser(textIn)
        .conflicts('text'),
    )
    .option('--text <file>', 'file with the text that is spoken; --json prints when each word begins', textIn)
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

/** Relative to the folder of the user: pnpm changes it. */
const folder = process.env['INIT_CWD'] ?? process.cwd()

function textIn(file: string): string {
  try {
    return readFileSync(resolve(folder, file), 'utf8')
  } catch {
    throw new InvalidArgumentError(`${file} could not be read.`)
  }
}

function expectedSpeech({ grammar, phrases, text }: TranscribeOptions): Expected | undefined {
  if (text !== undefined) return { grammar: 'text', text }
  if (phrases !== undefined) return { grammar: 'phrases', phrases: phrases.split('\n') }
  return grammar && { grammar }
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`)
  }
}

const { stderr } = process

/** Runs the command and returns the exit code. */
export async function runTranscribe(files: readonly string[], options: TranscribeOptions): Promise<number> {
  let platform: Awaited<ReturnType<typeof findPlatform>> | undefined
  try {
    platform = await findPlatform(process.env)
    return await transcribeFiles(files, options, platform)
  } catch (error) {
    const message = describeError(error, platform)
    if (message === undefined) throw error
    printError(message)
    return 1
  } finally {
    await platform?.close()
  }
}

async function transcribeFiles(
  files: readonly string[],
  options: TranscribeOptions,
  connection: Connection,
): Promise<number> {
  const { client: clientName, concurrency, retries, json = false, quiet = false } = options
  const started = performance.now()
  const recordings = await findRecordings(files, folder)
  let tokenRequests = 0
  const client = await createSpeechClient(clientName, {
    ...connection,
    onEvent: ({ type }) => void (type === 'token_requested' && tokenRequests++),
  })
  const progress = startProgress(recordings.length, stderr)
  const outcomes = transcribeAll(recordings, {
    client,
    speechUrl: connection.speechUrl,
    expected: expectedSpeech(options),
    concurrency,
    retries,
    onStart: (name) => progress.start(name),
    onEnd: (name) => progress.end(name),
    onProgress: (name, fraction) => progress.update(name, fraction),
    onRetry: (error) => progress.note(error.name, `${describeError(error, connection)} Retrying.`),
  })
  // On a terminal, results are printed after the progress: they would overwrite each other.
  const deferred: Outcome[] = []
  let failures = 0
  try {
    for await (const outcome of outcomes) {
      if ('error' in outcome) failures++
      if (stderr.isTTY) deferred.push(outcome)
      else printOutcome(outcome, json)
    }
  } finally {
    await progress.close()
    for (const outcome of deferred) printOutcome(outcome, json)
    await client.close()
  }
  if (!quiet) {
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const done = failures > 0 ? `${recordings.length - failures} of ` : ''
    const transcribed = `Transcribed ${done}${plural(recordings.length, 'recording')} with ${clientName}`
    stderr.write(`${transcribed}: ${plural(tokenRequests, 'token request')}, ${seconds} s\n`)
  }
  return failures > 0 ? 2 : 0
}
