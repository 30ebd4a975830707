import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientNames, createSpeechClient } from '../src/clients/create-speech-client.ts'
import { countRequests } from '../src/command/count-requests.ts'
import type { Platform } from '../src/platform/platform.ts'
import { startLocalPlatform } from '../src/platform/start-local-platform.ts'
import { silentWav } from './wav.ts'

let platform: Platform

beforeAll(async () => void (platform = await startLocalPlatform()))
afterAll(() => platform.close())

test.each(clientNames)('%s: 1,000 concurrent first calls make one token request', async (name) => {
  const requests = countRequests()
  const client = await createSpeechClient(name, platform)
  const recording = new Blob([silentWav(0.1) as Buffer<ArrayBuffer>])
  const calls = Array.from({ length: 1000 }, () => client.transcribe(recording))
  const answers = await Promise.allSettled(calls)
  await client.close()
  requests.stop()
  // The recogniser sends away what it cannot take on; each call has had its answer.
  const others = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason.code)
  expect(others.filter((code) => code !== 'busy')).toEqual([])
  expect(others.length).toBeLessThan(1000)
  expect(requests.arrived.get('POST /v1/transcriptions')).toBe(1000)
  expect(requests.arrived.get('POST /oauth/client_credential/accesstoken')).toBe(1)
})
