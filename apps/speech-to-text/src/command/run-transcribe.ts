import { createSpeechClient } from '../clients/create-speech-client.ts'
import type { Connection } from '../clients/speech-client.ts'
import { findPlatform } from '../platform/find-platform.ts'
import type { Platform } from '../platform/platform.ts'
import { describeFailure } from './describe-failure.ts'
import { findRecordings } from './find-recordings.ts'
import { startProgress } from './progress.ts'
import { complain, count, printOutcome } from './results.ts'
import { transcribeAll, type Outcome } from './transcribe-all.ts'
import type { TranscribeOptions } from './transcribe-options.ts'

const { stderr } = process

/** Does what the command line asks for and answers with the exit code. */
export async function runTranscribe(files: readonly string[], options: TranscribeOptions): Promise<number> {
  let platform: Platform | undefined
  try {
    platform = await findPlatform(process.env)
    return await transcribeFiles(files, options, platform)
  } catch (error) {
    const sentence = describeFailure(error, platform)
    if (sentence === undefined) throw error
    complain(sentence)
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
    onProgress: (name, share) => progress.hear(name, share),
    onRetry: (error) => progress.note(error.name, `${describeFailure(error, connection)} Trying again.`),
  })
  // Progress and results on one screen would overwrite each other.
  const held: Outcome[] = []
  let faults = 0
  try {
    for await (const outcome of outcomes) {
      if ('problem' in outcome) faults++
      if (stderr.isTTY) held.push(outcome)
      else printOutcome(outcome, json)
    }
  } finally {
    await progress.close()
    for (const outcome of held) printOutcome(outcome, json)
    await client.close()
  }
  if (!quiet) {
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const done = count(recordings.length - faults, 'recording')
    stderr.write(`${done} through ${clientName}, ${count(tokenRequests, 'token request')}, ${seconds} s\n`)
  }
  return faults > 0 ? 2 : 0
}
