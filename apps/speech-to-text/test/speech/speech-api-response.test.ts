import { expect, test } from 'vitest'
import { readTranscript, SpeechApiError } from '../../src/speech/speech-api-response.ts'

function errorOf(response: Parameters<typeof readTranscript>[0]): SpeechApiError {
  try {
    readTranscript(response)
  } catch (error) {
    if (error instanceof SpeechApiError) return error
  }
  throw new Error('A SpeechApiError was expected.')
}

const transcript = { text: 'one', durationSeconds: 1, segments: [] }

test('accepts a transcript only with status 200', () => {
  expect(readTranscript({ status: 200, body: transcript })).toEqual(transcript)
  expect(errorOf({ status: 500, body: transcript })).toMatchObject({
    status: 500,
    code: 'unexpected_response',
    isRetryable: true,
  })
})

test('treats an invalid response as an error of the API, not of the recording', () => {
  for (const body of [
    undefined,
    null,
    'text',
    { text: 'one' },
    { ...transcript, segments: {} },
    { ...transcript, segments: [{ start: 0, end: 1 }] },
    { ...transcript, segments: [{ start: '0', end: 1, text: 'one' }] },
    { ...transcript, warnings: ['loud'] },
  ]) {
    expect(errorOf({ status: 200, body })).toMatchObject({
      code: 'unexpected_response',
      isRecordingInvalid: false,
    })
  }
})

test('keeps the message, code and Retry-After of the API', () => {
  const body = { error: { code: 'busy', message: 'Too many recordings at once.' } }
  expect(errorOf({ status: 503, body, retryAfter: '2' })).toMatchObject({
    message: 'Too many recordings at once.',
    code: 'busy',
    retryAfterMs: 2000,
    isRetryable: true,
  })
  expect(
    errorOf({ status: 429, body, retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' }).retryAfterMs,
  ).toBeUndefined()
})
