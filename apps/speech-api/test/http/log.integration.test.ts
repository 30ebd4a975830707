import { expect, test } from 'vitest'
import { VALID_TOKEN, startTestApi } from '../support/test-api.ts'
import { createCountingEngine } from '../support/counting-engine.ts'

test('logs requests without tokens, secrets and transcripts', async () => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  {
    const engine = {
      ...createCountingEngine(),
      transcribe: async () => {
        return {
          durationSeconds: 1,
          segments: [{ start: 0, end: 1, text: 'transcript-text', confidence: 1 }],
        }
      },
    }
    await using api = await startTestApi({ engine, quiet: false, logTo, clientSecret: 'secret-of-the-api' })
    await api.post('audio')
    await api.post('audio', { authorization: 'Bearer wrong-token' })
    await fetch(`${api.url}/nowhere?access_token=${VALID_TOKEN}`)
    api.tokenService.status = 500
    await api.post('audio', { authorization: 'Bearer unchecked-token' })
  }
  const log = lines.join('')
  expect(log).toContain('/v1/transcriptions')
  expect(log).toContain('"clientId":"a-client"')
  expect(log).toContain('status 500')
  for (const secret of [
    VALID_TOKEN,
    'wrong-token',
    'unchecked-token',
    'secret-of-the-api',
    'transcript-text',
    'Bearer',
  ]) {
    expect(log).not.toContain(secret)
  }
})

test('logs a failure of the engine but does not return its details', async () => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  const engine = {
    ...createCountingEngine(),
    transcribe: () => Promise.reject(new Error('model is missing')),
  }
  await using api = await startTestApi({ engine, quiet: false, logTo })
  const response = await api.post('audio')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('the model')
  expect(lines.join('')).toContain('model is missing')
})

test('logs nothing when it is quiet', async () => {
  const lines: string[] = []
  await using api = await startTestApi({
    engine: createCountingEngine(),
    logTo: { write: (line) => void lines.push(line) },
  })
  await api.post('audio')
  expect(lines).toEqual([])
})
