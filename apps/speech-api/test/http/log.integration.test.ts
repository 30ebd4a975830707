import { expect, test } from 'vitest'
import { GOOD_TOKEN, startApi } from '../api-under-test.ts'
import { createListeningEngine } from '../listening-engine.ts'

test('the log tells what happened, and no token, secret or transcript', async () => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  {
    const engine = {
      ...createListeningEngine(),
      transcribe: async () => {
        return {
          durationSeconds: 1,
          segments: [{ start: 0, end: 1, text: 'transcript-text', confidence: 1 }],
        }
      },
    }
    await using api = await startApi({ engine, quiet: false, logTo, clientSecret: 'secret-of-the-api' })
    await api.post('audio')
    await api.post('audio', { authorization: 'Bearer wrong-token' })
    await fetch(`${api.url}/nowhere?access_token=${GOOD_TOKEN}`)
    api.tokenService.status = 500
    await api.post('audio', { authorization: 'Bearer unchecked-token' })
  }
  const log = lines.join('')
  expect(log).toContain('/v1/transcriptions')
  expect(log).toContain('"clientId":"a-client"')
  expect(log).toContain('answered 500')
  for (const secret of [
    GOOD_TOKEN,
    'wrong-token',
    'unchecked-token',
    'secret-of-the-api',
    'transcript-text',
    'Bearer',
  ]) {
    expect(log).not.toContain(secret)
  }
})

test('a failure of the engine is logged, and not shown', async () => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  const engine = { ...createListeningEngine(), transcribe: () => Promise.reject(new Error('gears jammed')) }
  await using api = await startApi({ engine, quiet: false, logTo })
  const response = await api.post('audio')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('gears')
  expect(lines.join('')).toContain('gears jammed')
})

test('a quiet server logs nothing', async () => {
  const lines: string[] = []
  await using api = await startApi({
    engine: createListeningEngine(),
    logTo: { write: (line) => void lines.push(line) },
  })
  await api.post('audio')
  expect(lines).toEqual([])
})
