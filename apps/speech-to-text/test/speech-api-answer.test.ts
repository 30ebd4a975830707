import { expect, test } from 'vitest'
import { readTranscript } from '../src/speech-api-answer.ts'
import { SpeechApiError } from '../src/speech-api-error.ts'

function errorOf(answer: Parameters<typeof readTranscript>[0]): SpeechApiError {
  try {
    readTranscript(answer)
  } catch (error) {
    if (error instanceof SpeechApiError) return error
  }
  throw new Error('A SpeechApiError was expected.')
}

const transcript = { text: 'one', durationSeconds: 1, segments: [] }

test('a transcript is a transcript only under status 200', () => {
  expect(readTranscript({ status: 200, body: transcript })).toBe(transcript)
  expect(errorOf({ status: 500, body: transcript })).toMatchObject({
    status: 500,
    code: 'unexpected_answer',
    passes: true,
  })
})

test('an answer of another shape is an error of the API, not of the recording', () => {
  for (const body of [undefined, null, 'text', { text: 'one' }, { ...transcript, segments: {} }]) {
    expect(errorOf({ status: 200, body })).toMatchObject({
      code: 'unexpected_answer',
      blamesRecording: false,
    })
  }
})

test("the API's own words, code and time to wait are kept", () => {
  const body = { error: { code: 'busy', message: 'Too many recordings at once.' } }
  expect(errorOf({ status: 503, body, retryAfter: '2' })).toMatchObject({
    message: 'Too many recordings at once.',
    code: 'busy',
    retryAfterMs: 2000,
    passes: true,
  })
  expect(
    errorOf({ status: 429, body, retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' }).retryAfterMs,
  ).toBeUndefined()
})
