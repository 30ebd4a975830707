import type { SpeechEngine, TranscriptionAnswer } from '@tokenwell/speech-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wavFile } from '../scripts/wav-file.ts'
import { type ApiUnderTest, startApi } from './api-under-test.ts'
import { recordings } from './hear.ts'
import { sendRaw } from './raw-request.ts'

const [sample] = recordings as [(typeof recordings)[number]]
const emptyFile = wavFile(new Float32Array(), { dataLength: 0xffffffff })

/** What clients of the API may expect of an engine that hears digits, whichever it is. */
export function describeEngine(
  name: string,
  /** Creates one that takes on so many recordings at a time. */
  createEngine: (most: number) => SpeechEngine,
): void {
  describe(`clients of ${name}`, () => {
    let api: ApiUnderTest
    let engine: SpeechEngine
    beforeAll(async () => {
      engine = createEngine(8)
      api = await startApi({ engine })
    })
    afterAll(async () => {
      await api[Symbol.asyncDispose]()
      await engine.close()
    })

    test('get each the digits of their own, in their places, when several ask at a time', async () => {
      const heard = recordings.map(({ file }) => transcriptOf(api.post(Uint8Array.from(file))))
      for (const { segments, durationSeconds } of await Promise.all(heard)) {
        for (const [index, { start, end }] of segments.entries()) {
          expect(start).toBeGreaterThanOrEqual(segments[index - 1]?.end ?? 0)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(durationSeconds)
        }
      }
      expect((await Promise.all(heard)).map(({ text }) => text)).toEqual(recordings.map(({ text }) => text))
    })

    test('do not wait for an upload that stands still', async () => {
      const slow = uploadInHalves(api)
      await slow.begun
      expect(await transcriptOf(api.post(Uint8Array.from(sample.file)))).toMatchObject({ text: sample.text })
      slow.goOn()
      expect(await transcriptOf(slow.answer)).toMatchObject({ text: sample.text })
    })

    test('are told what is wrong with their uploads, and the next is heard', async () => {
      const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
      const cutForm = await new Blob([head, Uint8Array.from(sample.file.subarray(0, 20_000))]).arrayBuffer()
      const wrong = {
        not_a_wav: [415, api.post('no recording at all')],
        empty_file: [400, api.post(new Uint8Array())],
        no_samples: [422, api.post(Uint8Array.from(wavFile(new Float32Array())))],
        broken_upload: [400, api.post(cutForm, { 'content-type': 'multipart/form-data; boundary=x' })],
      } as const
      for (const [code, [status, answer]] of Object.entries(wrong)) {
        const response = await answer
        expect({ status: response.status, body: await response.json() }).toMatchObject({
          status,
          body: { error: { code } },
        })
      }
      expect(await transcriptOf(api.post(Uint8Array.from(sample.file)))).toMatchObject({ text: sample.text })
    })
  })

  describe(`${name}, without a server`, () => {
    test('stops reading an upload that stands still when it is aborted, with the reason given', async () => {
      const engine = createEngine(1)
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
      await engine.close()
    })

    test('ends a transcription whose reader fails, with its error', async () => {
      const engine = createEngine(1)
      const audio = (async function* () {
        yield sample.file.subarray(0, 100)
        throw new Error('the line went dead')
      })()
      const { signal } = new AbortController()
      await expect(engine.transcribe(audio, { signal })).rejects.toThrow('the line went dead')
      await engine.close()
    })
  })

  describe(`clients of ${name} with little room`, () => {
    test('are sent away while it is full, and taken again when one is done', async () => {
      const engine = createEngine(2)
      await using api = await startApi({ engine })
      const held = [uploadInHalves(api), uploadInHalves(api)] as const
      await expect.poll(() => engine.busy).toBe(true)
      const refused = await api.post(Uint8Array.from(sample.file))
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await refused.json()).toMatchObject({ error: { code: 'busy' } })
      held[0].goOn()
      expect(await transcriptOf(held[0].answer)).toMatchObject({ text: sample.text })
      expect((await api.post(emptyFile)).status).toBe(422)
      held[1].goOn()
      expect(await transcriptOf(held[1].answer)).toMatchObject({ text: sample.text })
      await engine.close()
    })

    test('leave it to the next when they go away in the middle of their upload', async () => {
      const engine = createEngine(1)
      await using api = await startApi({ engine })
      for (let round = 0; round < 3; round++) {
        using request = sendRaw(api.url, { 'content-length': '1000000', expect: '100-continue' }, emptyFile)
        await request.received('100 Continue')
        await expect.poll(() => engine.busy).toBe(true)
        expect((await api.post(emptyFile)).status).toBe(503)
        request.socket.destroy()
        await expect.poll(async () => (await api.post(emptyFile)).status).toBe(422)
      }
      await engine.close()
    })
  })
}

/** Sends the beginning of a recording, and the rest when told to. */
function uploadInHalves(api: ApiUnderTest) {
  const begun = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<void>()
  const pieces = (async function* () {
    yield sample.file.subarray(0, 20_000)
    begun.resolve() // asked for more, so that has gone out
    await rest.promise
    yield sample.file.subarray(20_000)
  })()
  const answer = api.post(ReadableStream.from(pieces))
  return { answer, begun: begun.promise, goOn: rest.resolve }
}

async function transcriptOf(answer: Promise<Response>): Promise<TranscriptionAnswer> {
  const response = await answer
  expect(response.status).toBe(200)
  return (await response.json()) as TranscriptionAnswer
}
