import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wavFile } from '../support/wav-file.ts'
import { joinSamples } from '../../src/wav/resampler.ts'
import { type TestApi, VALID_TOKEN, startTestApi, createCountingEngine } from '../support/test-api.ts'
import { digits as sample, samplesOf } from '../support/recordings.ts'

const asynchronous = { prefer: 'respond-async' }
const withToken = (token = VALID_TOKEN) => ({ headers: { authorization: `Bearer ${token}` } })

interface Job {
  readonly id: string
  readonly state: string
  readonly progress?: number
  readonly result?: { readonly text: string; readonly durationSeconds: number }
  readonly error?: object
}

/** Polls a job until it has finished, and returns all responses. */
async function follow(api: TestApi, response: Response): Promise<Job[]> {
  expect(response.status).toBe(202)
  const responses = [(await response.json()) as Job]
  const location = response.headers.get('location')
  expect(location).toBe(`/v1/transcriptions/${responses[0]?.id}`)
  await expect
    .poll(
      async () => {
        const response = await fetch(`${api.url}${location}`, withToken())
        expect(response.status).toBe(200)
        expect(response.headers.get('cache-control')).toBe('no-store')
        const job = (await response.json()) as Job
        expect(response.headers.get('retry-after')).toBe(job.result || job.error ? null : '1')
        responses.push(job)
        return job.state
      },
      { timeout: 50_000, interval: 20 },
    )
    .toMatch(/^(done|failed)$/)
  return responses
}

describe('with the grammar engine', () => {
  let api: TestApi
  beforeAll(async () => void (api = await startTestApi()))
  afterAll(() => api[Symbol.asyncDispose]())

  test('transcribes a long recording as a job that reports its progress and returns the transcript', async () => {
    const spoken = joinSamples([samplesOf(sample.wav), new Float32Array(61 * 16_000)])
    const responses = await follow(api, await api.post(Uint8Array.from(wavFile(spoken))))
    expect(responses[0]).toMatchObject({ state: expect.stringMatching(/waiting|running/), progress: 0 })
    const progress = responses.map((job) => job.progress!)
    expect(progress).toEqual(progress.toSorted((one, other) => one - other))
    expect(progress.some((value) => value > 0 && value < 1)).toBe(true)
    expect(responses.at(-1)).toMatchObject({ state: 'done', progress: 1, result: { text: sample.text } })
    expect(responses.at(-1)?.result?.durationSeconds).toBeGreaterThan(61)
  })

  test.each(['respond-async', 'wait=5, Respond-Async'])(
    'transcribes a short recording as a job if the client prefers that: %s',
    async (prefer) => {
      const response = await api.post(sample.wav, { prefer })
      expect(response.headers.get('preference-applied')).toBe('respond-async')
      expect((await follow(api, response)).at(-1)?.result).toMatchObject({ text: sample.text })
    },
  )

  test('fails with the error that a direct response would have had', async () => {
    const responses = await follow(api, await api.post('four two', asynchronous))
    expect(responses.at(-1)).toEqual({
      id: responses[0]?.id,
      state: 'failed',
      error: { status: 415, code: 'not_a_wav', message: expect.stringMatching(/^[A-Z].*\.$/) },
    })
  })
})

test.each([
  ['the header states a long duration', wavFile(new Float32Array(160_000)), {}, 202],
  ['the header states a short duration', wavFile(new Float32Array(16_000)), {}, 200],
  [
    'the length of the request implies a long duration',
    wavFile(new Float32Array(160_000), { dataLength: 0xffffffff }),
    {},
    202,
  ],
  ['the duration is unknown', wavFile(new Float32Array(160_000), { dataLength: 0xffffffff }), 'stream', 200],
  [
    'the header states more than the request contains',
    wavFile(new Float32Array(16_000), { dataLength: 1e9 }),
    {},
    200,
  ],
])('responds directly or with a job when %s', async (_, file, how, status) => {
  await using api = await startTestApi({ engine: createCountingEngine(), longAudioSeconds: 5 })
  const bytes = Uint8Array.from(file)
  const response = await api.post(how === 'stream' ? new Blob([bytes]).stream() : bytes)
  expect(response.status).toBe(status)
})

describe('access to a job', () => {
  let api: TestApi
  const rest = Promise.withResolvers<void>()
  const engine = createCountingEngine(rest.promise)
  beforeAll(async () => {
    api = await startTestApi({ engine })
    const active = { active: true, api_products: ['speech-to-text'] }
    api.tokenService.tokens.set('refreshed', { ...active, client_id: 'a-client' })
    api.tokenService.tokens.set('other', { ...active, client_id: 'another-client' })
    api.tokenService.tokens.set('without-client', active)
    api.tokenService.tokens.set('also-without-client', active)
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const ask = (location: string | null, token: string, method = 'GET') =>
    fetch(`${api.url}${location}`, { method, ...withToken(token) })
  const start = async (token: string) => {
    const response = await api.post('audio', { ...asynchronous, ...withToken(token).headers })
    return response.headers.get('location')
  }

  test('is granted to its client with any of its tokens, and denied to others', async () => {
    const location = await start(VALID_TOKEN)
    for (const method of ['GET', 'DELETE']) {
      const rejected = await ask(location, 'other', method)
      expect(rejected.status).toBe(404)
      expect(await rejected.json()).toMatchObject({ error: { code: 'transcription_not_found' } })
      expect((await ask(location, 'unknown', method)).status).toBe(401)
    }
    expect((await ask(location, 'refreshed')).status).toBe(200)
  })

  test('is limited to the same token if the token has no client', async () => {
    const location = await start('without-client')
    expect((await ask(location, 'without-client')).status).toBe(200)
    expect((await ask(location, 'also-without-client')).status).toBe(404)
  })

  test('lets its client cancel it', async () => {
    const location = await start(VALID_TOKEN)
    expect((await ask(location, VALID_TOKEN, 'DELETE')).status).toBe(204)
    expect(await engine.aborted).toMatchObject({ message: 'The job was cancelled.' })
    for (const method of ['GET', 'DELETE'])
      expect((await ask(location, VALID_TOKEN, method)).status).toBe(404)
  })
})

test('leaves jobs free for other clients when one client starts as many as it can', async () => {
  const engine = createCountingEngine(new Promise(() => {}))
  await using api = await startTestApi({ engine })
  const active = { active: true, api_products: ['speech-to-text'] }
  api.tokenService.tokens.set('refreshed', { ...active, client_id: 'a-client' })
  api.tokenService.tokens.set('other', { ...active, client_id: 'another-client' })
  const start = (token: string) => api.post('audio', { ...asynchronous, ...withToken(token).headers })

  const all = await Promise.all(Array.from({ length: 20 }, () => start(VALID_TOKEN)))
  const accepted = all.filter(({ status }) => status === 202)
  expect(accepted).toHaveLength(8)
  for (const rejected of [
    ...all.filter((response) => !accepted.includes(response)),
    await start('refreshed'),
  ]) {
    expect(rejected.status).toBe(429)
    expect(rejected.headers.get('retry-after')).toBe('2')
    expect(await rejected.json()).toEqual({
      error: {
        code: 'too_many_recordings',
        message:
          'You have 8 recordings in progress, which is the current maximum. Try again when one has finished.',
      },
    })
  }
  expect((await start('other')).status).toBe(202)

  const location = accepted[0]!.headers.get('location')
  await fetch(`${api.url}${location}`, { method: 'DELETE', ...withToken() })
  await expect.poll(async () => (await start(VALID_TOKEN)).status).toBe(202)
})

test('cancels jobs when the server closes', async () => {
  const engine = createCountingEngine(new Promise(() => {}))
  {
    await using api = await startTestApi({ engine })
    expect((await api.post('audio', asynchronous)).status).toBe(202)
    await engine.started
  }
  expect(await engine.aborted).toMatchObject({ code: 'engine_closed' })
})

test('completes direct transcriptions when the server closes', async () => {
  const rest = Promise.withResolvers<void>()
  const engine = createCountingEngine(rest.promise)
  let response: Promise<Response>
  {
    await using api = await startTestApi({ engine })
    response = api.post('audio')
    await engine.started
    setImmediate(rest.resolve) // once it has started to close
  }
  expect((await response).status).toBe(200)
})
