import { openAsBlob, readFileSync } from 'node:fs'
import { arrayBuffer } from 'node:stream/consumers'
import { parseArgs, styleText } from 'node:util'
import { Listr, ListrLogger, ProcessOutput } from 'listr2'
import pLimit from 'p-limit'
import pRetry from 'p-retry'
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { createSpeechClient, type Transcription } from '../fetch/speech.ts'
import { findPlatform } from '../platform/find-platform.ts'
import { describeError, isRecordingInvalid, isRetryable } from './describe-error.ts'

const help = `Usage: transcribe --expected WHAT [options] FILE...

Transcribes WAV files (- for standard input), and prints one line for each.

  --expected WHAT   what is spoken: digits, numbers, codes, phrases, text; or speech, with a speech API that
                    was started with SPEECH_ENGINE
  --phrases FILE    the sentences of "phrases", one in each line
  --text FILE       the text of "text"
  --retries NUMBER  how often to try again when a service is not available (default: 4)
  --json            print one JSON object in each line, with the time of each word

Without AUTH_URL, a token service and a speech API are started on this machine. To use others, set
AUTH_URL, SPEECH_URL, CLIENT_ID and CLIENT_SECRET (or CONSUMER_KEY and CONSUMER_SECRET).

Exit codes:
  0  all recordings were transcribed
  1  a service is not available or rejected the request, or a variable of the environment is invalid
  2  an option is invalid, and nothing was transcribed; or a recording failed, and the others were transcribed
`

const { stdout, stderr } = process

/** Runs the command, and returns its exit code. */
export async function runTranscribe(args: readonly string[]): Promise<number> {
  let options: Options
  try {
    const parsed = readOptions(args)
    if (!parsed) return 0
    options = parsed
  } catch (error) {
    printError(`${(error as Error).message} See transcribe --help.`)
    return 2
  }
  let platform: Awaited<ReturnType<typeof findPlatform>> | undefined
  try {
    platform = await findPlatform(process.env)
    return await transcribeFiles(options, platform.environment)
  } catch (error) {
    const message = describeError(error, platform?.environment['SPEECH_URL'])
    if (message === undefined) throw error
    printError(message)
    return 1
  } finally {
    await platform?.close()
  }
}

interface Options {
  readonly files: readonly string[]
  readonly fields: Readonly<Record<string, string>>
  readonly retries: number
  readonly json: boolean
}

/** @returns undefined if the help was printed */
function readOptions(args: readonly string[]): Options | undefined {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals: files } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { expected: text, phrases: text, text, retries: text, json: flag, help: flag },
  })
  if (values.help) {
    stdout.write(help)
    return undefined
  }
  const { expected, phrases, text: spoken, retries = '4', json } = values
  if (!expected) throw new Error('--expected is missing: say what is spoken.')
  if (files.length === 0) throw new Error('No file is named.')
  if (!/^\d{1,2}$/.test(retries)) throw new Error('--retries must be a whole number up to 99.')
  const fields = {
    expected,
    ...(phrases !== undefined && { phrases: readFileSync(phrases, 'utf8') }),
    ...(spoken !== undefined && { text: readFileSync(spoken, 'utf8') }),
  }
  return { files, fields, retries: Number(retries), json }
}

type Outcome = { readonly transcript: Transcription } | { readonly error: string }

async function transcribeFiles(
  { files, fields, retries, json }: Options,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const started = performance.now()
  const { SPEECH_URL: speechUrl = '' } = environment
  await using tokens = clientCredentials(credentialsFrom(environment))
  let tokenRequests = 0
  tokens.subscribe(({ type }) => void (type === 'token_requested' && tokenRequests++))
  const speech = createSpeechClient(speechUrl, tokens)
  const limit = pLimit(4)
  const giveUp = new AbortController()

  const transcribe = (file: string, note: (text: string) => void) =>
    limit(async (): Promise<Outcome> => {
      giveUp.signal.throwIfAborted()
      try {
        const recording = file === '-' ? new Blob([await arrayBuffer(process.stdin)]) : await openAsBlob(file)
        const onProgress = (part: number) => note(`${Math.round(part * 100)}%`)
        const transcript = await pRetry(() => speech.transcribe(recording, fields, onProgress), {
          retries,
          minTimeout: 500,
          maxTimeout: 10_000,
          randomize: true,
          signal: giveUp.signal,
          shouldRetry: ({ error }) => isRetryable(error),
          onFailedAttempt({ error, retriesLeft }) {
            if (retriesLeft > 0 && isRetryable(error)) note(`${describeError(error, speechUrl)} Retrying.`)
          },
        })
        return { transcript }
      } catch (error) {
        const isUnreadable =
          Object(error).code === 'ERR_INVALID_ARG_VALUE' || Object(error).name === 'NotReadableError'
        if (isUnreadable) return { error: `${file} could not be read.` }
        if (isRecordingInvalid(error)) return { error: `${file}: ${(error as Error).message}` }
        giveUp.abort(error) // the other recordings would fail as well
        throw error
      }
    })

  const outcomes = await withProgress(files, transcribe)
  for (const [index, outcome] of outcomes.entries()) print(files[index]!, outcome, json)
  const failures = outcomes.filter((outcome) => 'error' in outcome).length
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const done = `${outcomes.length - failures} of ${plural(outcomes.length, 'recording')}`
  stderr.write(`Transcribed ${done}: ${plural(tokenRequests, 'token request')}, ${seconds} s\n`)
  return failures > 0 ? 2 : 0
}

/** Shows the progress on a terminal. Elsewhere, only notes about failures are printed, each once. */
async function withProgress(
  files: readonly string[],
  transcribe: (file: string, note: (text: string) => void) => Promise<Outcome>,
): Promise<Outcome[]> {
  if (!stderr.isTTY) {
    const noted = new Set<string>()
    const note = (text: string) => {
      if (!text.endsWith('%') && !noted.has(text)) stderr.write(`${text}\n`)
      noted.add(text)
    }
    return Promise.all(files.map((file) => transcribe(file, note)))
  }
  const outcomes: Outcome[] = []
  const tasks = files.map((file, index) => ({
    title: file,
    task: async (_: unknown, task: { output: string }) => {
      outcomes[index] = await transcribe(file, (text) => (task.output = text))
    },
  }))
  const logger = new ListrLogger({ processOutput: new ProcessOutput(stderr, stderr) })
  await new Listr(tasks, {
    concurrent: true,
    rendererOptions: { clearOutput: true, logger },
  }).run()
  return outcomes
}

function print(file: string, outcome: Outcome, json: boolean): void {
  if ('error' in outcome) printError(outcome.error)
  if (json) {
    stdout.write(`${JSON.stringify({ file, ...('error' in outcome ? outcome : outcome.transcript) })}\n`)
  } else if ('transcript' in outcome) {
    stdout.write(`${file}: ${outcome.transcript.text}\n`)
    for (const { message } of outcome.transcript.warnings ?? []) stderr.write(`${file}: ${message}\n`)
  }
}

export function printError(message: string): void {
  stderr.write(`${styleText('red', message, { stream: stderr })}\n`)
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
