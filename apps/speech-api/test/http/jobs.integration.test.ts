import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wavFile } from '../../scripts/wav-file.ts'
import { join } from '../../src/wav/join.ts'
import { type ApiUnderTest, GOOD_TOKEN, startApi } from '../api-under-test.ts'
import { recordings, samplesOf } from '../hear.ts'
import { createListeningEngine } from '../listening-engine.ts'

const [sample] = recordings as [(typeof recordings)[number]]
const later = { prefer: 'respond-async' }
const withToken = (token = GOOD_TOKEN) => ({ headers: { authorization: `Bearer ${token}` } })

interface Job {
  readonly id: string
  readonly state: string
  readonly progress?: number
  readonly result?: { readonly text: string; readonly durationSeconds: number }
  readonly error?: object
}

/** Asks about a job until it is over, and returns all that was answered. */
async function follow(api: ApiUnderTest, response: Response): Promise<Job[]> {
  expect(response.status).toBe(202)
  const answers = [(await response.json()) as Job]
  const location = response.headers.get('location')
  expect(location).toBe(`/v1/transcriptions/${answers[0]?.id}`)
  await expect
    .poll(
      async () => {
        const asked = await fetch(`${api.url}${location}`, withToken())
        expect(asked.status).toBe(200)
        expect(asked.headers.get('cache-control')).toBe('no-store')
        const job = (await asked.json()) as Job
        expect(asked.headers.get('retry-after')).toBe(job.result || job.error ? null : '1')
        answers.push(job)
        return job.state
      },
      { timeout: 50_000, interval: 20 },
    )
    .toMatch(/^(done|failed)$/)
  return answers
}

describe('with the digits engine', () => {
  let api: ApiUnderTest
  beforeAll(async () => void (api = await startApi()))
  afterAll(() => api[Symbol.asyncDispose]())

  test('a long recording is answered as a job, which tells how far it is and ends with the transcript', async () => {
    const spoken = join([samplesOf(sample.file), new Float32Array(61 * 16_000)])
    const answers = await follow(api, await api.post(Uint8Array.from(wavFile(spoken))))
    expect(answers[0]).toMatchObject({ state: expect.stringMatching(/waiting|running/), progress: 0 })
    const shares = answers.map(({ progress }) => progress!)
    expect(shares).toEqual(shares.toSorted((one, other) => one - other))
    expect(shares.some((share) => share > 0 && share < 1)).toBe(true)
    expect(answers.at(-1)).toMatchObject({ state: 'done', progress: 1, result: { text: sample.text } })
    expect(answers.at(-1)?.result?.durationSeconds).toBeGreaterThan(61)
  })

  test.each(['respond-async', 'wait=5, Respond-Async'])(
    'a short one too, for those who prefer it: %s',
    async (prefer) => {
      const response = await api.post(Uint8Array.from(sample.file), { prefer })
      expect(response.headers.get('preference-applied')).toBe('respond-async')
      expect((await follow(api, response)).at(-1)?.result).toMatchObject({ text: sample.text })
    },
  )

  test('what is no recording ends as it would have been answered', async () => {
    const answers = await follow(api, await api.post('four two', later))
    expect(answers.at(-1)).toEqual({
      id: answers[0]?.id,
      state: 'failed',
      error: { status: 415, code: 'not_a_wav', message: expect.stringMatching(/^[A-Z].*\.$/) },
    })
  })
})

test.each([
  ['by its header', wavFile(new Float32Array(160_000)), {}, 202],
  ['by its header, and short', wavFile(new Float32Array(16_000)), {}, 200],
  ['by the length of the upload', wavFile(new Float32Array(160_000), { dataLength: 0xffffffff }), {}, 202],
  [
    'by nothing, as far as can be told',
    wavFile(new Float32Array(160_000), { dataLength: 0xffffffff }),
    'stream',
    200,
  ],
  [
    'by its header, which speaks of more than there is',
    wavFile(new Float32Array(16_000), { dataLength: 1e9 }),
    {},
    200,
  ],
])('a recording is long %s', async (_, file, how, status) => {
  await using api = await startApi({ engine: createListeningEngine(), longAudioSeconds: 5 })
  const bytes = Uint8Array.from(file)
  const response = await api.post(how === 'stream' ? new Blob([bytes]).stream() : bytes)
  expect(response.status).toBe(status)
})

describe('a job is its client’s own', () => {
  let api: ApiUnderTest
  const rest = Promise.withResolvers<void>()
  const engine = createListeningEngine(rest.promise)
  beforeAll(async () => {
    api = await startApi({ engine })
    const about = { active: true, api_products: ['speech-to-text'] }
    api.tokenService.tokens.set('renewed', { ...about, client_id: 'a-client' })
    api.tokenService.tokens.set('foreign', { ...about, client_id: 'another-client' })
    api.tokenService.tokens.set('nameless', about)
    api.tokenService.tokens.set('also-nameless', about)
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const ask = (location: string | null, token: string, method = 'GET') =>
    fetch(`${api.url}${location}`, { method, ...withToken(token) })
  const start = async (token: string) => {
    const response = await api.post('audio', { ...later, ...withToken(token).headers })
    return response.headers.get('location')
  }

  test('whichever of its tokens it shows; others are told nothing, and can end nothing', async () => {
    const location = await start(GOOD_TOKEN)
    for (const method of ['GET', 'DELETE']) {
      const refused = await ask(location, 'foreign', method)
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({ error: { code: 'unknown_transcription' } })
      expect((await ask(location, 'unknown', method)).status).toBe(401)
    }
    expect((await ask(location, 'renewed')).status).toBe(200)
  })

  test('a token of no known client stands for itself', async () => {
    const location = await start('nameless')
    expect((await ask(location, 'nameless')).status).toBe(200)
    expect((await ask(location, 'also-nameless')).status).toBe(404)
  })

  test('its client can cancel it', async () => {
    const location = await start(GOOD_TOKEN)
    expect((await ask(location, GOOD_TOKEN, 'DELETE')).status).toBe(204)
    expect(await engine.aborted).toMatchObject({ message: 'The job was cancelled.' })
    for (const method of ['GET', 'DELETE']) expect((await ask(location, GOOD_TOKEN, method)).status).toBe(404)
  })
})

test('a client that begins as many jobs as it can leaves room for those of another', async () => {
  const engine = createListeningEngine(new Promise(() => {}))
  await using api = await startApi({ engine })
  const about = { active: true, api_products: ['speech-to-text'] }
  api.tokenService.tokens.set('renewed', { ...about, client_id: 'a-client' })
  api.tokenService.tokens.set('foreign', { ...about, client_id: 'another-client' })
  const start = (token: string) => api.post('audio', { ...later, ...withToken(token).headers })

  const greedy = await Promise.all(Array.from({ length: 20 }, () => start(GOOD_TOKEN)))
  const taken = greedy.filter(({ status }) => status === 202)
  expect(taken).toHaveLength(8)
  for (const refused of [...greedy.filter((response) => !taken.includes(response)), await start('renewed')]) {
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await refused.json()).toEqual({
      error: {
        code: 'too_many_jobs',
        message:
          'This client has 8 recordings under way, as many as it may for now; try again when one is done, or cancel one.',
      },
    })
  }
  expect((await start('foreign')).status).toBe(202)

  const location = taken[0]!.headers.get('location')
  await fetch(`${api.url}${location}`, { method: 'DELETE', ...withToken() })
  await expect.poll(async () => (await start(GOOD_TOKEN)).status).toBe(202)
})

test('a server that closes ends its jobs, and does not wait for them', async () => {
  const engine = createListeningEngine(new Promise(() => {}))
  {
    await using api = await startApi({ engine })
    expect((await api.post('audio', later)).status).toBe(202)
    await engine.begun
  }
  expect(await engine.aborted).toMatchObject({ code: 'engine_closed' })
})

test('a server that closes lets a short transcription finish, and then waits for nobody', async () => {
  const rest = Promise.withResolvers<void>()
  const engine = createListeningEngine(rest.promise)
  let answer: Promise<Response>
  {
    await using api = await startApi({ engine })
    answer = api.post('audio')
    await engine.begun
    setImmediate(rest.resolve) // once it has begun to close
  }
  expect((await answer).status).toBe(200)
})
