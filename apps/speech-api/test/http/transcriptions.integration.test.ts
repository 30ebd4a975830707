import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExpectedSpeechError, type TranscriptionResponse } from '@tokenwell/speech-api'
import { wavFile } from '../support/wav-file.ts'
import { type TestApi, startTestApi, VALID_TOKEN, createCountingEngine } from '../support/test-api.ts'
import { digits as sample, formOf, samples } from '../support/recordings.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api[Symbol.asyncDispose]())

/** Posts a form with the content type that `fetch` would set. */
async function postForm(form: FormData): Promise<Response> {
  const { headers, body } = new Response(form)
  return api.post(await new Response(body).arrayBuffer(), {
    'content-type': headers.get('content-type') ?? '',
  })
}

function formWith(field: string, file: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData()
  form.set('note', 'a field before the file')
  form.set(field, new Blob([file]), 'recording.wav')
  form.set('more', 'a field after the file')
  return form
}

async function errorOf(response: Response): Promise<{ status: number; code: string; message: string }> {
  const body = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, ...body.error }
}

describe('transcribes a recording', () => {
  test('in the body', async () => {
    const response = await api.post(sample.wav)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const body = (await response.json()) as Record<string, unknown> & { segments: unknown[] }
    expect(body).toMatchObject({ text: sample.text, language: 'en', grammar: 'digits', uncertain: false })
    expect(body['durationSeconds']).toBeGreaterThan(2)
    expect(body.segments).toHaveLength(sample.text.split(' ').length)
    expect(body.segments[0]).toEqual({
      start: expect.any(Number),
      end: expect.any(Number),
      text: sample.text[0],
      confidence: expect.any(Number),
    })
  })

  test.each(samples)('in a form that says what is in it: $expected.grammar', async (one) => {
    const response = await postForm(formOf(one))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      text: one.text,
      grammar: one.expected.grammar,
      uncertain: false,
      warnings: [],
    })
  })

  test('in the body, with what is in it in the query', async () => {
    const [command] = samples.filter(({ expected }) => expected.grammar === 'phrases')
    const query = new URLSearchParams()
    for (const phrase of ['Close the shutters.', command!.text]) query.append('phrases', phrase)
    const response = await fetch(`${api.url}/v1/transcriptions?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${VALID_TOKEN}`, 'content-type': 'audio/wav' },
      body: command!.wav,
    })
    expect(await response.json()).toMatchObject({ text: command!.text, grammar: 'phrases' })
  })

  test.each(['audio/wav', 'audio/x-wav', 'audio/wave', 'application/octet-stream', 'audio/wav; codecs=1'])(
    'as %s',
    async (type) => {
      const response = await api.post(sample.wav, { 'content-type': type })
      expect(await response.json()).toMatchObject({ text: sample.text })
    },
  )

  test('as a field of a form, among other fields', async () => {
    const response = await postForm(formWith('file', sample.wav))
    expect(await response.json()).toMatchObject({ text: sample.text })
  })

  test('in chunks, without Content-Length', async () => {
    const pieces = Array.from({ length: 50 }, (_, index) =>
      sample.wav.subarray((index * sample.wav.length) / 50, ((index + 1) * sample.wav.length) / 50),
    )
    const response = await api.post(Readable.toWeb(Readable.from(pieces)) as ReadableStream)
    expect(await response.json()).toMatchObject({ text: sample.text })
  })

  test('of silence as an empty text with a warning', async () => {
    const response = await api.post(Uint8Array.from(wavFile(new Float32Array(16_000))))
    expect(await response.json()).toEqual({
      text: '',
      durationSeconds: 1,
      language: 'en',
      segments: [],
      grammar: 'digits',
      uncertain: false,
      warnings: [{ code: 'silence', message: 'The recording is silent.' }],
    })
  })

  test('of other sounds as an empty text with another warning', async () => {
    const clicks = Float32Array.from({ length: 32_000 }, (_, index) => (index % 8_000 < 80 ? 0.9 : 0))
    const response = await api.post(Uint8Array.from(wavFile(clicks)))
    const message = 'The recording contains sound, but no words were recognised.'
    expect(await response.json()).toMatchObject({
      text: '',
      warnings: [{ code: 'nothing_recognised', message }],
    })
  })

  test('of a truncated file as far as it goes, with a warning', async () => {
    const half = sample.wav.subarray(0, sample.wav.length / 2)
    const body = (await (await api.post(Uint8Array.from(half))).json()) as TranscriptionResponse
    expect(body.segments.length).toBeGreaterThan(0)
    expect(body.warnings).toEqual([
      {
        code: 'truncated_wav',
        message: expect.stringMatching(/^The WAV file is truncated: it contains \d\.\d s of \d\.\d s\.$/),
      },
    ])
  })

  test('without warnings if nothing is wrong', async () => {
    const response = await api.post(sample.wav)
    expect(await response.json()).toMatchObject({ text: sample.text, warnings: [] })
  })
})

describe('responds with a code and a sentence to', () => {
  const mp3 = wavFile(new Float32Array(100))
  mp3.writeUInt16LE(85, 20)
  test.each<[string, Uint8Array, number, string]>([
    ['an empty file', new Uint8Array(), 400, 'empty_file'],
    ['a text', Buffer.from('four two seven one'), 415, 'not_a_wav'],
    ['an incomplete header', wavFile(new Float32Array(9)).subarray(0, 20), 422, 'malformed_wav'],
    ['no samples', wavFile(new Float32Array()), 422, 'no_samples'],
    ['another encoding', mp3, 415, 'unsupported_wav'],
    [
      'samples that are not numbers',
      wavFile(Float32Array.of(0, NaN), { encoding: 'float', bits: 32 }),
      422,
      'invalid_samples',
    ],
  ])('%s', async (_, file, status, code) => {
    for (const response of [
      await api.post(Uint8Array.from(file)),
      await postForm(formWith('file', Uint8Array.from(file))),
    ]) {
      const error = await errorOf(response)
      expect(error).toMatchObject({ status, code })
      expect(error.message).toMatch(/^[A-Z].*\.$/)
    }
  })

  test('no body', async () => {
    expect(await errorOf(await api.post(undefined))).toMatchObject({ status: 400, code: 'empty_file' })
  })

  test.each(['text/plain', 'application/json', 'audio/mpeg', 'nonsense', ''])(
    'a body of type "%s"',
    async (type) => {
      const error = await errorOf(await api.post('four two', { 'content-type': type }))
      expect(error).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    },
  )

  test('a form without the field', async () => {
    const response = await postForm(formWith('recording', sample.wav))
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'file_missing' })
  })

  test.each([
    ['no boundary', 'multipart/form-data', 'whatever'],
    ['no form in it', 'multipart/form-data; boundary=x', 'whatever'],
    [
      'an end too early',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF',
    ],
    ['nothing in it', 'multipart/form-data; boundary=x', '--x--\r\n'],
  ])('a form with %s', async (_, type, body) => {
    const error = await errorOf(await api.post(body, { 'content-type': type }))
    expect(error.status).toBe(400)
    expect(['malformed_upload', 'file_missing']).toContain(error.code)
  })

  test('another path, or another method', async () => {
    for (const [method, path] of [
      ['GET', '/v1/transcriptions?a=b'],
      ['POST', '/v2/transcriptions'],
    ] as const) {
      const error = await errorOf(await fetch(`${api.url}${path}`, { method }))
      expect(error).toEqual({
        status: 404,
        code: 'not_found',
        message: `${method} ${path.split('?')[0]} does not exist.`,
      })
    }
  })
})

describe('rejects with a code and a sentence', () => {
  const rejected = async (fields: readonly (readonly [string, string])[]) => {
    const form = new FormData()
    for (const [name, value] of fields) {
      form.append(name, name === 'file' ? new Blob([sample.wav]) : value)
    }
    return errorOf(await postForm(form))
  }
  const file = ['file', ''] as const

  test.each<[string, string, (readonly [string, string])[]]>([
    ['a grammar that does not exist', 'unknown_grammar', [['grammar', 'colours'], file]],
    ['two kinds of fields', 'too_many_fields', [['grammar', 'digits'], ['text', 'four'], file]],
    ['two texts', 'too_many_fields', [['text', 'four'], ['text', 'two'], file]],
    ['a field after the file', 'field_after_file', [file, ['grammar', 'digits']]],
    ['no words', 'no_words', [['text', ' \n '], file]],
    ['201 phrases', 'too_many_phrases', [['phrases', 'four two\n'.repeat(201)], file]],
    ['5,001 words in phrases', 'too_many_words', [['phrases', `${'four '.repeat(5_000)}\ntwo`], file]],
    ['5,001 words in a text', 'too_many_words', [['text', 'four '.repeat(5_001)], file]],
    ['a text of 200 kB', 'too_many_words', [['text', 'x'.repeat(200_000)], file]],
    ['words that nobody knows', 'unknown_words', [['text', 'four zzq 2'], file]],
    ['hostile phrases', 'unknown_words', [['phrases', `${'['.repeat(1_000)}zzq${']'.repeat(1_000)}`], file]],
  ])('%s', async (_, code, fields) => {
    const error = await rejected(fields)
    expect(error).toMatchObject({ status: 422, code })
    expect(error.message).toMatch(/^[A-Z][^\n]{10,300}\.$/)
  })

  test('words that nobody knows, by name', async () => {
    expect((await rejected([['phrases', 'four\nzzq, and 2'], file])).message).toBe(
      'These words are not in the dictionary: "zzq", "2". Replace them, and write numbers as words.',
    )
  })

  test('what is expected, if the engine transcribes any speech', async () => {
    const engine = {
      ...createCountingEngine(),
      transcribe: () =>
        Promise.reject(new ExpectedSpeechError('grammar_not_supported', 'Any speech is transcribed.')),
    }
    await using other = await startTestApi({ engine })
    expect(await errorOf(await other.post(sample.wav))).toMatchObject({
      status: 422,
      code: 'grammar_not_supported',
    })
  })
})

test('reuses a connection after a rejected upload', async () => {
  for (let round = 0; round < 3; round++) {
    expect((await api.post(new Uint8Array(1_000_000))).status).toBe(415)
    expect((await api.post(sample.wav)).status).toBe(200)
  }
})

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
