import { EngineBusyError, type SpeechEngine } from '@tokenwell/speech-api'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createJobStore, type JobStore, type JobStoreOptions } from '../../src/jobs/job-store.ts'

const never = new AbortController().signal
const transcript = { durationSeconds: 10, segments: [{ start: 0, end: 1, text: 'one' }] }

/** Transcriptions that have started and are completed by the tests. */
let started: (PromiseWithResolvers<typeof transcript> & { bytes: number; report(seconds: number): void })[]
let stores: JobStore[]
let finished: PromiseWithResolvers<void>[]
let folder: string

const engine: SpeechEngine = {
  name: 'manual',
  async transcribe(audio, { signal, onProgress }) {
    // One that a closed store has cancelled may still read in the next test.
    const startedInTest = started
    const pending = Promise.withResolvers<typeof transcript>()
    pending.promise.catch(() => undefined)
    signal.addEventListener('abort', () => pending.reject(signal.reason))
    let bytes = 0
    for await (const piece of audio) bytes += piece.length
    startedInTest.push({ ...pending, bytes, report: (seconds) => onProgress?.(seconds) })
    return pending.promise
  },
  close: async () => {},
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobs-'))
  vi.stubEnv('TMPDIR', folder)
  started = []
  stores = []
  finished = []
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

function createStore(options: Partial<JobStoreOptions> = {}): JobStore {
  const store = createJobStore({ engine, onFinished: () => finished.shift()?.resolve(), ...options })
  stores.push(store)
  return store
}

function nextFinished(): Promise<void> {
  const next = Promise.withResolvers<void>()
  finished.push(next)
  return next.promise
}

async function* pieces(...lengths: number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length)
}

async function* piecesUntil(rest: Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1)
  await rest
}

const add = (store: JobStore, owner = 'me') =>
  store.add(owner, { audio: pieces(1_000, 500), seconds: 10 }, never)

/** The job that was added last, once its transcription has started. */
async function latest(number: number) {
  await expect.poll(() => started.length, { timeout: 20_000 }).toBe(number)
  return started[number - 1]!
}

test('reports waiting, running with progress, and the transcript', async () => {
  const store = createStore()
  const { id } = await add(store)
  expect(store.find('me', id)).toMatchObject({ state: 'waiting', processedSeconds: 0, seconds: 10 })
  const transcription = await latest(1)
  expect(transcription.bytes).toBe(1_500)
  transcription.report(4)
  expect(store.find('me', id)).toMatchObject({ state: 'running', processedSeconds: 4 })
  transcription.report(3)
  expect(store.find('me', id)?.processedSeconds).toBe(4)
  const finishing = nextFinished()
  transcription.resolve(transcript)
  await finishing
  expect(store.find('me', id)).toMatchObject({ state: 'done', transcript })
})

test('reports the error of a failed transcription', async () => {
  const store = createStore()
  const { id } = await add(store)
  const finishing = nextFinished()
  ;(await latest(1)).reject(new Error('no model'))
  await finishing
  expect(store.find('me', id)).toMatchObject({ state: 'failed', error: { message: 'no model' } })
})

test('hides a job from other owners', async () => {
  const store = createStore()
  const { id } = await add(store, 'me')
  expect(store.find('you', id)).toBeUndefined()
  expect(store.remove('you', id)).toBe(false)
  expect(store.find('me', id)).toBeDefined()
})

test('cancels and deletes a job, which frees its place', async () => {
  const store = createStore({ maxActive: 1 })
  const { id } = await add(store)
  const transcription = await latest(1)
  expect(store.remove('me', id)).toBe(true)
  expect(store.find('me', id)).toBeUndefined()
  expect(store.remove('me', id)).toBe(false)
  await expect(transcription.promise).rejects.toThrow('cancelled')
  await expect.poll(() => readdir(folder), { timeout: 20_000 }).toEqual([])
  await add(store)
})

test('rejects jobs above the limit before it reads them', async () => {
  const store = createStore({ maxActive: 2 })
  await add(store, 'them')
  const rest = Promise.withResolvers<void>()
  const uploading = store.add('me', { audio: piecesUntil(rest.promise), seconds: undefined }, never)
  let read = false
  const audio = (async function* () {
    read = true
    yield new Uint8Array(1)
  })()
  await expect(store.add('you', { audio, seconds: 1 }, never)).rejects.toBeInstanceOf(EngineBusyError)
  expect(read).toBe(false)
  rest.resolve()
  await uploading
})

test('accepts a job of an owner only while the owner has fewer than are free', async () => {
  const store = createStore()
  const takeAll = async (owner: string) => {
    for (const ids: string[] = []; ;) {
      const job = await add(store, owner).catch((error: Error) => error)
      if (job instanceof Error) return { ids, count: ids.length, rejection: job.name }
      ids.push(job.id)
    }
  }
  const { ids, count } = await takeAll('the first')
  expect(count).toBe(8)
  for (const half of [4, 2, 1]) {
    expect(await takeAll(`one of ${half}`)).toMatchObject({ count: half, rejection: 'ShareExceededError' })
  }
  expect(await takeAll('the sixth')).toMatchObject({ count: 1, rejection: 'EngineBusyError' })

  store.remove('the first', ids[0]!)
  await expect.poll(async () => (await takeAll('the first')).rejection).toBe('ShareExceededError')
  expect(await takeAll('the seventh')).toMatchObject({ count: 1 })
})

test('creates no job and leaves no file after a failed or aborted upload', async () => {
  const store = createStore({ maxActive: 1 })
  const broken = (async function* () {
    yield new Uint8Array(1)
    throw new Error('the connection was lost')
  })()
  await expect(store.add('me', { audio: broken, seconds: 1 }, never)).rejects.toThrow(
    'the connection was lost',
  )
  const endless = piecesUntil(new Promise(() => {}))
  const controller = new AbortController()
  const aborted = store.add('me', { audio: endless, seconds: 1 }, controller.signal)
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  expect(await readdir(folder)).toEqual([])
  await add(store)
})

test('retries while the engine is busy', async () => {
  let calls = 0
  const store = createStore({
    engine: {
      ...engine,
      transcribe: async () => {
        if (++calls === 1) throw new EngineBusyError('busy')
        return transcript
      },
    },
  })
  const finishing = nextFinished()
  const { id } = await add(store)
  await finishing
  expect(store.find('me', id)?.state).toBe('done')
  expect(calls).toBe(2)
})

test('cancels a job that takes too long', async () => {
  const store = createStore({ timeoutMs: 1 })
  const finishing = nextFinished()
  const { id } = await add(store)
  await finishing
  expect(store.find('me', id)).toMatchObject({ state: 'failed', error: { code: 'engine_timeout' } })
})

test('keeps finished jobs for a limited time and a limited number for each owner', async () => {
  let now = 1_000
  const store = createStore({
    retentionMs: 500,
    maxFinished: 2,
    now: () => now,
    engine: { ...engine, transcribe: async () => transcript },
  })
  const done = async (owner: string) => {
    const finishing = nextFinished()
    const { id } = await add(store, owner)
    await finishing
    return id
  }
  const known = (ids: readonly string[]) =>
    ids.map((id, index) => store.find(index === 0 ? 'you' : 'me', id)?.state)
  const ids = [await done('you'), await done('me'), await done('me'), await done('me')]
  expect(known(ids)).toEqual(['done', undefined, 'done', 'done'])
  now += 499
  expect(known(ids)).toEqual(['done', undefined, 'done', 'done'])
  now += 1
  expect(known(ids)).toEqual(Array(4).fill(undefined))
})

test('cancels jobs and uploads on close', async () => {
  const store = createStore()
  await add(store)
  const transcription = await latest(1)
  const reading = Promise.withResolvers<void>()
  const uploading = store.add(
    'me',
    {
      seconds: 1,
      audio: (async function* () {
        yield new Uint8Array(1)
        reading.resolve()
        await new Promise(() => {})
      })(),
    },
    never,
  )
  const results = Promise.allSettled([transcription.promise, uploading])
  await reading.promise
  await store.close()
  for (const result of await results) expect(result).toMatchObject({ reason: { code: 'engine_closed' } })
  expect(await readdir(folder)).toEqual([])
})
