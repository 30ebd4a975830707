import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SpeechEngine, TranscriptionResponse } from '@tokenwell/speech-api'
import { wavFile } from '../support/wav-file.ts'
import { sendRaw } from '../support/raw-request.ts'
import { addClient, startTestApi, type TestApi } from '../support/test-api.ts'
import { digits as sample, repeated } from '../support/recordings.ts'

const recordings = [sample, repeated(2), repeated(3)]
const emptyFile = wavFile(new Float32Array(), { dataLength: 0xffffffff })

/** Tests that every engine must pass that recognises digits. */
export function describeEngine(
  name: string,
  /** Creates an engine that accepts this many recordings at the same time. */
  createEngine: (maxRecordings: number) => SpeechEngine,
): void {
  describe(`${name}, over HTTP`, () => {
    let api: TestApi
    let engine: SpeechEngine
    beforeAll(async () => {
      engine = createEngine(8)
      api = await startTestApi({ engine })
    })
    afterAll(async () => {
      await api[Symbol.asyncDispose]()
      await engine.close()
    })

    test('transcribes concurrent recordings, each with its own digits and times', async () => {
      const transcripts = recordings.map(({ wav }) => transcriptOf(api.post(wav)))
      for (const { segments, durationSeconds } of await Promise.all(transcripts)) {
        for (const [index, { start, end }] of segments.entries()) {
          expect(start).toBeGreaterThanOrEqual(segments[index - 1]?.end ?? 0)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(durationSeconds)
        }
      }
      expect((await Promise.all(transcripts)).map(({ text }) => text)).toEqual(
        recordings.map(({ text }) => text),
      )
    })

    test('transcribes other recordings while an upload stalls', async () => {
      const slow = uploadInHalves(api)
      await slow.started
      expect(await transcriptOf(api.post(sample.wav))).toMatchObject({ text: sample.text })
      slow.finish()
      expect(await transcriptOf(slow.response)).toMatchObject({ text: sample.text })
    })

    test('reports what is wrong with an upload and transcribes the next one', async () => {
      const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
      const cutForm = await new Blob([head, sample.wav.subarray(0, 20_000)]).arrayBuffer()
      const invalid = {
        not_a_wav: [415, api.post('no recording at all')],
        empty_file: [400, api.post(new Uint8Array())],
        no_samples: [422, api.post(Uint8Array.from(wavFile(new Float32Array())))],
        malformed_upload: [400, api.post(cutForm, { 'content-type': 'multipart/form-data; boundary=x' })],
      } as const
      for (const [code, [status, pending]] of Object.entries(invalid)) {
        const response = await pending
        expect({ status: response.status, body: await response.json() }).toMatchObject({
          status,
          body: { error: { code } },
        })
      }
      expect(await transcriptOf(api.post(sample.wav))).toMatchObject({ text: sample.text })
    })
  })

  describe(`${name}, called directly`, () => {
    test('rejects with the reason of an abort while an upload stalls', async () => {
      const engine = createEngine(1)
      const controller = new AbortController()
      const reading = Promise.withResolvers<void>()
      const transcription = engine.transcribe(
        (async function* () {
          yield sample.wav.subarray(0, 1_000)
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

    test('rejects with the error of a failed upload', async () => {
      const engine = createEngine(1)
      const audio = (async function* () {
        yield sample.wav.subarray(0, 100)
        throw new Error('the connection was lost')
      })()
      const { signal } = new AbortController()
      await expect(engine.transcribe(audio, { signal })).rejects.toThrow('the connection was lost')
      await engine.close()
    })
  })

  describe(`${name}, at its limit`, () => {
    test('responds with 503 while it is full and accepts recordings again afterwards', async () => {
      const engine = createEngine(2)
      await using api = await startTestApi({ engine })
      const uploads = [uploadInHalves(api), uploadInHalves(api, addClient(api, 'another-client'))] as const
      await expect.poll(() => engine.busy).toBe(true)
      const rejected = await api.post(sample.wav)
      expect(rejected.status).toBe(503)
      expect(rejected.headers.get('retry-after')).toBe('1')
      expect(await rejected.json()).toMatchObject({ error: { code: 'busy' } })
      uploads[0].finish()
      expect(await transcriptOf(uploads[0].response)).toMatchObject({ text: sample.text })
      expect((await api.post(emptyFile)).status).toBe(422)
      uploads[1].finish()
      expect(await transcriptOf(uploads[1].response)).toMatchObject({ text: sample.text })
      await engine.close()
    })

    test('frees the place of a client that disconnects in the middle of its upload', async () => {
      const engine = createEngine(1)
      await using api = await startTestApi({ engine })
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

/** Sends the beginning of a recording, and the rest after `finish()`. */
function uploadInHalves(api: TestApi, headers?: Record<string, string>) {
  const started = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<void>()
  const pieces = (async function* () {
    yield sample.wav.subarray(0, 20_000)
    started.resolve() // the first half has been sent
    await rest.promise
    yield sample.wav.subarray(20_000)
  })()
  const response = api.post(pieces, headers)
  return { response, started: started.promise, finish: rest.resolve }
}

async function transcriptOf(pending: Promise<Response>): Promise<TranscriptionResponse> {
  const response = await pending
  expect(response.status).toBe(200)
  return (await response.json()) as TranscriptionResponse
}
