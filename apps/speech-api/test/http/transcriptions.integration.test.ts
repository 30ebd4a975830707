import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SpeechApiOptions, TranscriptionResponse } from '@tokenwell/speech-api'
import { formOf, sampleFile, sampleOf, samples } from '../support/recordings.ts'
import { createSlowEngine, startTestApi } from '../support/test-api.ts'
import { wavFile } from '../support/wav-file.ts'

const { wav, text } = sampleOf('digits')

async function start(options?: Partial<SpeechApiOptions>) {
  const api = await startTestApi(options)
  onTestFinished(() => api[Symbol.asyncDispose]())
  return api
}

async function startSlow(options?: Partial<SpeechApiOptions>) {
  const engine = createSlowEngine()
  const api = await start({ engine, ...options })
  /** Waits until the engine has this number of recordings. */
  const until = (count: number) => expect.poll(() => engine.transcriptions.length).toBe(count)
  return { ...api, engine, until }
}

const read = async (response: Response) => [response.status, await response.json()] as const
const invalid = (message: string) => [400, { error: { code: 'invalid_field', message } }]

test('transcribes the samples', async () => {
  const api = await start()
  for (const { fields, wav, text } of samples) {
    const [status, body] = await read(await api.post(fields, wav))
    expect([status, body]).toMatchObject([
      200,
      { state: 'done', expected: fields['expected'], text, warnings: [] },
    ])
    expect(body.segments.length).toBe(text.split(' ').length)
  }
})

describe('responds with 400 that names', () => {
  const list =
    'digits, numbers, codes, phrases or text. For free speech, the operator of this server has to set SPEECH_ENGINE.'
  test.each<[string, Record<string, string>, string]>([
    ['what may be expected, if nothing is', {}, `The field "expected" must be ${list}`],
    [
      'what may be expected, if something else is',
      { expected: 'dates' },
      `The field "expected" must be ${list}`,
    ],
    ['an unknown field', { expected: 'digits', grammar: 'codes' }, 'There is no field "grammar".'],
    ['a field that is missing', { expected: 'text' }, 'The field "text" is missing. `text` needs it.'],
    [
      'a field of something else',
      { expected: 'digits', phrases: 'a' },
      'The field "phrases" belongs to `phrases` alone.',
    ],
    [
      'a text without words',
      { expected: 'text', text: ' ' },
      'The field "text" must contain 1 to 5,000 words.',
    ],
    [
      'a text of too many words',
      { expected: 'text', text: 'a '.repeat(5_001) },
      'The field "text" must contain 1 to 5,000 words.',
    ],
    [
      'too many phrases',
      { expected: 'phrases', phrases: 'yes\n'.repeat(201) },
      'The field "phrases" has more than 200 lines.',
    ],
  ])('%s', async (_, fields, message) => {
    const api = await start()
    expect(await read(await api.post(fields))).toEqual(invalid(message))
  })

  test('a recording that is missing, or not the only one', async () => {
    const { call } = await start()
    const post = (body: FormData) => call('/v1/transcriptions', { method: 'POST', body }).then(read)
    const form = formOf({ fields: { expected: 'digits' } })
    expect(await post(form)).toEqual(invalid('The field "file" is missing. Send a WAV file.'))
    form.set('file', sampleFile('order-number.wav'))
    expect(await post(form)).toEqual(invalid('The field "file" is missing. Send a WAV file.'))
    form.set('file', new Blob([wav]))
    form.set('other', new Blob([wav]))
    expect(await post(form)).toEqual(invalid('Send one file, in the field "file".'))
    const json = new Blob([JSON.stringify({ path: sampleFile('order-number.wav') })], {
      type: 'application/json',
    })
    form.set('file', json)
    form.delete('other')
    expect((await post(form))[0]).toBe(415)
    const twice = formOf({ wav, fields: { expected: 'digits' } })
    twice.append('expected', 'digits')
    expect(await post(twice)).toEqual(invalid('The field "expected" is repeated.'))
  })

  test('what another engine recognises', async () => {
    const { post, engine } = await startSlow()
    engine.finish()
    expect((await read(await post({ expected: 'codes' })))[1].error.message).toMatch(
      'must be digits or text.',
    )
    expect((await read(await post()))[1]).toMatchObject({ text: 'word' })
  })
})

test.each<[string, Uint8Array<ArrayBuffer>, number, string]>([
  ['what is not a WAV file', new TextEncoder().encode('no recording'), 415, 'not_a_wav'],
  ['an empty file', new Uint8Array(), 400, 'empty_file'],
  ['a file without samples', Uint8Array.from(wavFile(new Float32Array())), 422, 'no_samples'],
  ['a recording that is too large', new Uint8Array(25 * 1_048_576 + 1), 413, 'too_large'],
])('rejects %s, and deletes it', async (_, file, status, code) => {
  const { post, engine } = await startSlow()
  expect(await read(await post(undefined, file))).toMatchObject([status, { error: { code } }])
  expect(engine.transcriptions).toEqual([])
})

test('rejects a body that is not a form, and a path that does not exist', async () => {
  const { call } = await start()
  const send = (type: string) =>
    call('/v1/transcriptions', { method: 'POST', headers: { 'content-type': type }, body: 'x' })
  for (const type of ['audio/wav', 'application/json']) expect((await send(type)).status).toBe(415)
  expect((await read(await call('/v2')))[1]).toEqual({
    error: { code: 'not_found', message: 'GET /v2 does not exist.' },
  })
})

test('responds to a long recording at once, and returns its transcript as often as it is requested', async () => {
  const { post, call, engine, until } = await startSlow({ longAudioSeconds: 2 })
  const response = await post()
  const location = response.headers.get('location')!
  expect([response.status, response.headers.get('retry-after')]).toEqual([202, '1'])
  expect(await response.json()).toMatchObject({ state: 'running', progress: 0, expected: 'digits' })
  await until(1)
  engine.transcriptions[0]!.options.onProgress(0.25)
  expect(await read(await call(location))).toMatchObject([200, { state: 'running', progress: 0.25 }])
  engine.finish()
  const poll = async () => (await (await call(location)).json()) as TranscriptionResponse
  await expect.poll(poll).toMatchObject({ state: 'done', text: 'word' })
  expect(await poll()).toEqual(await poll())
  await expect.poll(() => existsSync(engine.transcriptions[0]!.path)).toBe(false)
})

test('reports why a long recording failed', async () => {
  const { post, call } = await start({ longAudioSeconds: 0 })
  const { id } = await (await post({ expected: 'text', text: 'zzq' })).json()
  const poll = async () => (await (await call(`/v1/transcriptions/${id}`)).json()) as TranscriptionResponse
  await expect.poll(poll).toMatchObject({ state: 'failed', error: { status: 422, code: 'unknown_words' } })
})

test('forgets a transcript after its time', async () => {
  const { post, call } = await start({ retentionMs: 0 })
  const { id } = await (await post()).json()
  await expect.poll(async () => (await call(`/v1/transcriptions/${id}`)).status).toBe(404)
})

test('shows and deletes a transcription to its own client alone', async () => {
  const { post, call, engine, until } = await startSlow({ longAudioSeconds: 0 })
  const { id } = await (await post()).json()
  const path = `/v1/transcriptions/${id}`
  expect((await read(await call(path, {}, 'other')))[1].error.code).toBe('transcription_not_found')
  expect((await call(path, { method: 'DELETE' }, 'other')).status).toBe(404)
  await until(1)
  expect((await call(path, { method: 'DELETE' })).status).toBe(204)
  expect(engine.transcriptions[0]!.options.signal.aborted).toBe(true)
  expect((await call(path)).status).toBe(404)
})

test('cancels a recording whose client has gone', async () => {
  const { call, engine, until } = await startSlow()
  const controller = new AbortController()
  const body = formOf({ wav, fields: { expected: 'digits' } })
  const response = call('/v1/transcriptions', { method: 'POST', body, signal: controller.signal })
  await until(1)
  controller.abort()
  await expect(response).rejects.toThrow()
  await expect.poll(() => engine.transcriptions[0]!.options.signal.aborted).toBe(true)
})

test('responds with 503 while it has as many recordings as it accepts', async () => {
  const { post, engine, until } = await startSlow({ longAudioSeconds: 0 })
  await Promise.all(Array.from({ length: 32 }, () => post()))
  await until(32)
  const busy = await post()
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2'])
  engine.finish()
  await expect.poll(async () => (await post()).status).toBe(202)
})

test('deletes its recordings and cancels what is in progress when it closes', async () => {
  const engine = createSlowEngine()
  const api = await startTestApi({ engine })
  const response = api.post()
  await expect.poll(() => engine.transcriptions.length).toBe(1)
  await api[Symbol.asyncDispose]()
  expect(await read(await response)).toMatchObject([503, { error: { code: 'engine_closed' } }])
  expect(existsSync(dirname(engine.transcriptions[0]!.path))).toBe(false)
})

test('allows pages of the origins that are set, and no others', async () => {
  const { url } = await start({ allowedOrigins: ['https://page.example'] })
  const allowed = async (origin: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    const response = await fetch(`${url}/v1/transcriptions`, { method: 'OPTIONS', headers })
    return response.headers.get('access-control-allow-origin')
  }
  expect([await allowed('https://page.example'), await allowed('https://other.example')]).toEqual([
    'https://page.example',
    null,
  ])
  await expect(startTestApi({ allowedOrigins: ['https://page.example/'] })).rejects.toThrow(
    'is not a valid origin',
  )
})

test('transcribes what was sent in any order of the fields', async () => {
  const { call } = await start()
  const body = new FormData()
  body.set('expected', 'digits')
  body.set('file', new Blob([wav]))
  expect((await read(await call('/v1/transcriptions', { method: 'POST', body })))[1].text).toBe(text)
})
