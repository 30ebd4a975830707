import { EngineBusyError, type SpeechEngine } from '@tokenwell/speech-api'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createJobStore, type JobStore, type JobStoreOptions } from '../../src/jobs/job-store.ts'

const never = new AbortController().signal
const heard = { durationSeconds: 10, segments: [{ start: 0, end: 1, text: 'one' }] }

/** Transcriptions that have begun, to be ended by hand. */
let begun: (PromiseWithResolvers<typeof heard> & { bytes: number; hear(seconds: number): void })[]
let stores: JobStore[]
let over: PromiseWithResolvers<void>[]
let folder: string

const engine: SpeechEngine = {
  name: 'by hand',
  async transcribe(audio, { signal, onProgress }) {
    const held = Promise.withResolvers<typeof heard>()
    held.promise.catch(() => undefined)
    signal.addEventListener('abort', () => held.reject(signal.reason))
    let bytes = 0
    for await (const piece of audio) bytes += piece.length
    begun.push({ ...held, bytes, hear: (seconds) => onProgress?.(seconds) })
    return held.promise
  },
  close: async () => {},
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobs-'))
  vi.stubEnv('TMPDIR', folder)
  begun = []
  stores = []
  over = []
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

function createStore(options: Partial<JobStoreOptions> = {}): JobStore {
  const store = createJobStore({ engine, onEnd: () => over.shift()?.resolve(), ...options })
  stores.push(store)
  return store
}

function nextOver(): Promise<void> {
  const next = Promise.withResolvers<void>()
  over.push(next)
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

/** The job that was added last, once its transcription has begun. */
async function latest(number: number) {
  await expect.poll(() => begun.length, { timeout: 20_000 }).toBe(number)
  return begun[number - 1]!
}

test('a job waits, runs, tells how far it is and ends with the transcript', async () => {
  const store = createStore()
  const { id } = await add(store)
  expect(store.find('me', id)).toMatchObject({ state: 'waiting', heardSeconds: 0, seconds: 10 })
  const transcription = await latest(1)
  expect(transcription.bytes).toBe(1_500)
  transcription.hear(4)
  expect(store.find('me', id)).toMatchObject({ state: 'running', heardSeconds: 4 })
  transcription.hear(3)
  expect(store.find('me', id)?.heardSeconds).toBe(4)
  const ended = nextOver()
  transcription.resolve(heard)
  await ended
  expect(store.find('me', id)).toMatchObject({ state: 'done', transcript: heard })
})

test('a job whose transcription fails says why', async () => {
  const store = createStore()
  const { id } = await add(store)
  const ended = nextOver()
  ;(await latest(1)).reject(new Error('jammed'))
  await ended
  expect(store.find('me', id)).toMatchObject({ state: 'failed', error: { message: 'jammed' } })
})

test('nobody else can find a job, or end it', async () => {
  const store = createStore()
  const { id } = await add(store, 'me')
  expect(store.find('you', id)).toBeUndefined()
  expect(store.remove('you', id)).toBe(false)
  expect(store.find('me', id)).toBeDefined()
})

test('a job that is removed is ended and forgotten, and makes room', async () => {
  const store = createStore({ maxUnfinished: 1 })
  const { id } = await add(store)
  const transcription = await latest(1)
  expect(store.remove('me', id)).toBe(true)
  expect(store.find('me', id)).toBeUndefined()
  expect(store.remove('me', id)).toBe(false)
  await expect(transcription.promise).rejects.toThrow('cancelled')
  await expect.poll(() => readdir(folder), { timeout: 20_000 }).toEqual([])
  await add(store)
})

test('more jobs than may be under way are refused before they are read', async () => {
  const store = createStore({ maxUnfinished: 2 })
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

test('an owner gets another job only while it has fewer than are free', async () => {
  const store = createStore()
  const takeAll = async (owner: string) => {
    for (const ids: string[] = []; ;) {
      const job = await add(store, owner).catch((error: Error) => error)
      if (job instanceof Error) return { ids, count: ids.length, refusal: job.name }
      ids.push(job.id)
    }
  }
  const { ids, count } = await takeAll('one alone')
  expect(count).toBe(8)
  for (const half of [4, 2, 1]) {
    expect(await takeAll(`one of ${half}`)).toMatchObject({ count: half, refusal: 'ClientShareError' })
  }
  expect(await takeAll('the last')).toMatchObject({ count: 1, refusal: 'EngineBusyError' })

  store.remove('one alone', ids[0]!)
  await expect.poll(async () => (await takeAll('one alone')).refusal).toBe('ClientShareError')
  expect(await takeAll('a newcomer')).toMatchObject({ count: 1 })
})

test('an upload that breaks off, or is aborted, is no job and leaves nothing behind', async () => {
  const store = createStore({ maxUnfinished: 1 })
  const broken = (async function* () {
    yield new Uint8Array(1)
    throw new Error('the line went dead')
  })()
  await expect(store.add('me', { audio: broken, seconds: 1 }, never)).rejects.toThrow('the line went dead')
  const endless = piecesUntil(new Promise(() => {}))
  const controller = new AbortController()
  const aborted = store.add('me', { audio: endless, seconds: 1 }, controller.signal)
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  expect(await readdir(folder)).toEqual([])
  await add(store)
})

test('an engine that is busy is asked again', async () => {
  let calls = 0
  const store = createStore({
    engine: {
      ...engine,
      transcribe: async () => {
        if (++calls === 1) throw new EngineBusyError('busy')
        return heard
      },
    },
  })
  const ended = nextOver()
  const { id } = await add(store)
  await ended
  expect(store.find('me', id)?.state).toBe('done')
  expect(calls).toBe(2)
})

test('a job that takes too long is ended', async () => {
  const store = createStore({ timeLimitMs: 1 })
  const ended = nextOver()
  const { id } = await add(store)
  await ended
  expect(store.find('me', id)).toMatchObject({ state: 'failed', error: { code: 'engine_timeout' } })
})

test('a job that is over is known for a while, and of one owner only so many are', async () => {
  let now = 1_000
  const store = createStore({
    keepMs: 500,
    maxFinished: 2,
    now: () => now,
    engine: { ...engine, transcribe: async () => heard },
  })
  const done = async (owner: string) => {
    const ended = nextOver()
    const { id } = await add(store, owner)
    await ended
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

test('a store that closes ends what is under way, and what is still being taken in', async () => {
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
  const ends = Promise.allSettled([transcription.promise, uploading])
  await reading.promise
  await store.close()
  for (const end of await ends) expect(end).toMatchObject({ reason: { code: 'engine_closed' } })
  expect(await readdir(folder)).toEqual([])
})
