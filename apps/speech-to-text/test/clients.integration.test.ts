import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientNames, createSpeechClient } from '../src/clients/create-speech-client.ts'
import { countRequests } from '../src/command/run-demo.ts'
import type { LocalPlatform } from '../src/platform/connection.ts'
import { startLocalPlatform } from '../src/platform/start-local-platform.ts'
import { sampleOf, samplesFolder, padWav, silentWav } from './platform.ts'

let platform: LocalPlatform

beforeAll(async () => void (platform = await startLocalPlatform()))
afterAll(() => platform.close())

test.each(clientNames)('%s: 200 concurrent first calls share one token request', async (name) => {
  const requests = countRequests()
  const client = await createSpeechClient(name, platform)
  const recording = new Blob([silentWav(0.1) as Buffer<ArrayBuffer>])
  const calls = Array.from({ length: 200 }, () => client.transcribe(recording))
  const responses = await Promise.allSettled(calls)
  await client.close()
  requests.stop()
  // The speech API rejects what exceeds its limits. Every call has got a response.
  const others = responses
    .filter((response) => response.status === 'rejected')
    .map(({ reason }) => reason.code)
  expect(others.filter((code) => code !== 'busy' && code !== 'too_many_recordings')).toEqual([])
  expect(others.length).toBeLessThan(200)
  expect(requests.received.get('POST /v1/transcriptions')).toBe(200)
  expect(requests.received.get('POST /oauth/client_credential/accesstoken')).toBe(1)
})

test('every client reports the progress of a long recording and returns the transcript', async () => {
  const { file, text } = sampleOf('digits')
  const recording = new Blob([padWav(await readFile(join(samplesFolder, file)), 30) as Buffer<ArrayBuffer>])
  const transcripts = clientNames.map(async (name) => {
    const progress: (number | undefined)[] = []
    const client = await createSpeechClient(name, platform)
    const transcript = await client.transcribe(recording, { onProgress: (value) => progress.push(value) })
    await client.close()
    expect(progress[0]).toBe(0)
    return transcript
  })
  for (const transcript of await Promise.all(transcripts)) {
    expect(transcript.text).toBe(text)
    expect(transcript.durationSeconds).toBeGreaterThan(60)
    expect(transcript.segments[0]!.start).toBeGreaterThanOrEqual(30)
  }
})
