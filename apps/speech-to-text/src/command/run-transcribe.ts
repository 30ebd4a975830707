import { createSpeechClient } from '../clients/create-speech-client.ts'
import type { Connection } from '../platform/connection.ts'
import { findPlatform } from '../platform/find-platform.ts'
import type { Platform } from '../platform/platform.ts'
import { describeError } from '../platform/describe-error.ts'
import { findRecordings } from './find-recordings.ts'
import { startProgress } from './progress.ts'
import { plural, printError, printOutcome } from './print-results.ts'
import { transcribeAll, type Outcome } from './transcribe-all.ts'
import type { TranscribeOptions } from './transcribe-options.ts'

const { stderr } = process

/** Runs the command and returns the exit code. */
export async function runTranscribe(files: readonly string[], options: TranscribeOptions): Promise<number> {
  let platform: Platform | undefined
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
  { client: clientName, concurrency, retries, json = false, quiet = false }: TranscribeOptions,
  connection: Connection,
): Promise<number> {
  const started = performance.now()
  const recordings = await findRecordings(files, process.env['INIT_CWD'] ?? process.cwd())
  let tokenRequests = 0
  const client = await createSpeechClient(clientName, {
    ...connection,
    onEvent: ({ type }) => void (type === 'token_requested' && tokenRequests++),
  })
  const progress = startProgress(recordings.length, stderr)
  const outcomes = transcribeAll(recordings, {
    client,
    speechUrl: connection.speechUrl,
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
