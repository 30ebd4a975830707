import { createDigitsEngine } from '@tokenwell/speech-api'
import { afterAll, describe, expect, test } from 'vitest'
import { createWorkerLane } from '../../src/digits/worker-lane.ts'
import { describeEngine } from '../describe-engine.ts'
import { recordings } from '../hear.ts'

describeEngine('the digits engine', (maxJobs) => createDigitsEngine({ workers: 1, maxJobs }))

const engine = createDigitsEngine({ workers: 1, maxJobs: 4 })
afterAll(() => engine.close())

const { signal } = new AbortController()
const [sample] = recordings as [(typeof recordings)[number]]

async function* whole(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}

const textOf = async (audio: AsyncIterable<Uint8Array>) =>
  (await engine.transcribe(audio, { signal })).segments.map(({ text }) => text).join(' ')

test('a buffer that was handed in is still whole afterwards', async () => {
  const file = Uint8Array.from(sample.file)
  await textOf(whole(file))
  expect(Buffer.compare(file, sample.file)).toBe(0)
})

describe('an abort', () => {
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
