import { afterAll, describe, expect, test } from 'vitest'
import { createDigitsEngine } from '@tokenwell/speech-api'
import { createRecognitionThread } from '../../../src/engines/digits/recognition-thread.ts'
import { recordings } from '../../support/transcribe-file.ts'
import { describeEngine } from '../describe-engine.ts'

describeEngine('the digits engine', (maxJobs) => createDigitsEngine({ threads: 1, maxJobs }))

const engine = createDigitsEngine({ threads: 1, maxJobs: 4 })
afterAll(() => engine.close())

const { signal } = new AbortController()
const [sample] = recordings as [(typeof recordings)[number]]

async function* whole(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}

const textOf = async (audio: AsyncIterable<Uint8Array>) =>
  (await engine.transcribe(audio, { signal })).segments.map(({ text }) => text).join(' ')

test('does not change the buffers of the caller', async () => {
  const file = Uint8Array.from(sample.file)
  await textOf(whole(file))
  expect(Buffer.compare(file, sample.file)).toBe(0)
})

describe('an abort', () => {
  test('frees the places of the aborted transcriptions', async () => {
    for (let round = 0; round < 3; round++) {
      const controllers = Array.from({ length: 4 }, () => new AbortController())
      const all = controllers.map(async (controller) =>
        engine.transcribe(whole(sample.file), { signal: controller.signal }),
      )
      for (const controller of controllers) controller.abort(new Error('enough'))
      const results = await Promise.allSettled(all)
      expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    }
    expect(await textOf(whole(sample.file))).toBe(sample.text)
  })

  test('before the start reads nothing', async () => {
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

test('rejects recordings after close', async () => {
  const closed = createDigitsEngine({ threads: 1 })
  await closed.close()
  await expect(closed.transcribe(whole(sample.file), { signal })).rejects.toThrow('closed')
})

test('fails all jobs of a thread that exits', async () => {
  const thread = createRecognitionThread()
  thread.add(1)
  const response = thread.send({ kind: 'end', job: 1 })
  const failed = expect(response).rejects.toThrow('exited')
  await thread.stop()
  await failed
  expect(thread.exited).toBe(true)
  await expect(thread.send({ kind: 'end', job: 1 })).rejects.toThrow('exited')
})
