import { createDigitsEngine, EngineBusyError } from '@tokenwell/speech-api'
import { afterAll, describe, expect, test } from 'vitest'
import { wavFile } from '../../scripts/wav-file.ts'
import { createWorkerLane } from '../../src/digits/worker-lane.ts'
import { recordings } from '../hear.ts'

const engine = createDigitsEngine({ workers: 1, maxJobs: 4 })
afterAll(() => engine.close())

const { signal } = new AbortController()
const [sample] = recordings as [(typeof recordings)[number]]

async function* whole(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}

const textOf = async (audio: AsyncIterable<Uint8Array>) =>
  (await engine.transcribe(audio, { signal })).segments.map(({ text }) => text).join(' ')

test.each(recordings)('hears $name in a thread', async ({ file, text }) => {
  expect(await textOf(whole(file))).toBe(text)
})

test('hears several recordings at a time in one thread, without mixing them up', async () => {
  const heard = await Promise.all(recordings.map(({ file }) => textOf(whole(file))))
  expect(heard).toEqual(recordings.map(({ text }) => text))
})

test('an upload that stands still does not hold up the next one', async () => {
  const rest = Promise.withResolvers<void>()
  const slow = textOf(
    (async function* () {
      yield sample.file.subarray(0, 20_000)
      await rest.promise
      yield sample.file.subarray(20_000)
    })(),
  )
  expect(await textOf(whole(sample.file))).toBe(sample.text)
  rest.resolve()
  expect(await slow).toBe(sample.text)
})

test('a buffer that was handed in is still whole afterwards', async () => {
  const file = Uint8Array.from(sample.file)
  await textOf(whole(file))
  expect(Buffer.compare(file, sample.file)).toBe(0)
})

test('what is no recording is refused, and what comes next is heard', async () => {
  await expect(textOf(whole(Buffer.from('no recording at all')))).rejects.toMatchObject({ code: 'not_a_wav' })
  await expect(textOf(whole(new Uint8Array()))).rejects.toMatchObject({ code: 'empty_file' })
  await expect(textOf(whole(wavFile(new Float32Array())))).rejects.toMatchObject({ code: 'no_samples' })
  expect(await textOf(whole(sample.file))).toBe(sample.text)
})

describe('an abort', () => {
  test('ends a transcription that waits for more, with the reason given', async () => {
    const controller = new AbortController()
    const reading = Promise.withResolvers<void>()
    const transcription = engine.transcribe(
      (async function* () {
        yield sample.file.subarray(0, 1_000)
        reading.resolve()
        await new Promise(() => {})
      })(),
      { signal: controller.signal },
    )
    await reading.promise
    controller.abort(new Error('enough'))
    await expect(transcription).rejects.toThrow('enough')
  })

  test('leaves no work behind: as many as may be at work begin again', async () => {
    for (let round = 0; round < 3; round++) {
      const controllers = Array.from({ length: 4 }, () => new AbortController())
      const all = controllers.map(async (controller) =>
        engine.transcribe(whole(sample.file), { signal: controller.signal }),
      )
      for (const controller of controllers) controller.abort(new Error('enough'))
      const ends = await Promise.allSettled(all)
      expect(ends.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    }
    expect(await textOf(whole(sample.file))).toBe(sample.text)
  })

  test('before the beginning reads nothing', async () => {
    let read = false
    const audio = (async function* () {
      read = true
      yield sample.file
    })()
    await expect(engine.transcribe(audio, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    )
    expect(read).toBe(false)
  })
})

test('a reader that fails ends the transcription with its error', async () => {
  const audio = (async function* () {
    yield sample.file.subarray(0, 100)
    throw new Error('the line went dead')
  })()
  await expect(textOf(audio)).rejects.toThrow('the line went dead')
})

test('more than it takes on are refused, until one is done', async () => {
  const rest = Promise.withResolvers<void>()
  const held = Array.from({ length: 4 }, async () =>
    textOf(
      (async function* () {
        await rest.promise
        yield sample.file
      })(),
    ),
  )
  await expect(textOf(whole(sample.file))).rejects.toBeInstanceOf(EngineBusyError)
  rest.resolve()
  expect(await Promise.all(held)).toEqual(Array(4).fill(sample.text))
  expect(await textOf(whole(sample.file))).toBe(sample.text)
})

test('a closed engine says so', async () => {
  const closed = createDigitsEngine({ workers: 1 })
  await closed.close()
  await expect(closed.transcribe(whole(sample.file), { signal })).rejects.toThrow('closed')
})

test('a thread that dies fails what it had in hand, and says that it has ended', async () => {
  const lane = createWorkerLane()
  lane.begin(1)
  const asked = lane.ask({ kind: 'end', job: 1 })
  const failed = expect(asked).rejects.toThrow('ended')
  await lane.stop()
  await failed
  expect(lane.ended).toBe(true)
  await expect(lane.ask({ kind: 'end', job: 1 })).rejects.toThrow('ended')
})
