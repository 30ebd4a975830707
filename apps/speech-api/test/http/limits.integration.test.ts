import { EngineBusyError } from '@tokenwell/speech-api'
import { describe, expect, test } from 'vitest'
import { wavFile } from '../../scripts/wav-file.ts'
import { startApi } from '../api-under-test.ts'
import { createListeningEngine } from '../listening-engine.ts'
import { sendRaw } from '../raw-request.ts'

const MEGABYTE = 1_048_576
const TOO_LARGE = { error: { code: 'too_large', message: 'The recording is larger than 25 MB.' } }

function endless(bytes: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent === 0) controller.enqueue(wavFile(new Float32Array(), { dataLength: 0xffffffff }))
      else controller.enqueue(new Uint8Array(65_536))
      sent += 65_536
      if (sent >= bytes) controller.close()
    },
  })
}

describe('a recording larger than 25 MB', () => {
  test('is refused by its length before it is read', async () => {
    const engine = createListeningEngine()
    await using api = await startApi({ engine })
    using request = sendRaw(api.url, { 'content-length': String(30 * MEGABYTE) })
    expect(await request.received('too_large')).toContain('HTTP/1.1 413 Payload Too Large')
    expect(engine.calls).toBe(0)
  })

  test('is refused by its length although the client sends it all', async () => {
    await using api = await startApi({ engine: createListeningEngine() })
    const response = await api.post(new Uint8Array(30 * MEGABYTE))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual(TOO_LARGE)
  })

  test('is refused while it is read, if it does not say its length', async () => {
    const engine = createListeningEngine()
    await using api = await startApi({ engine })
    const response = await api.post(endless(30 * MEGABYTE))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual(TOO_LARGE)
    expect(engine.bytes).toBeLessThanOrEqual(25 * MEGABYTE)
  })

  test('is refused in a form', async () => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(3 * MEGABYTE)]), 'large.wav')
    const { headers, body } = new Response(form)
    await using api = await startApi({ engine: createListeningEngine(), maxUploadBytes: 2 * MEGABYTE })
    const type = headers.get('content-type') ?? ''
    const response = await api.post(body as ReadableStream, { 'content-type': type })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: 'too_large' } })
  })

  test('by one byte is refused, and one of just that size is read', async () => {
    const engine = createListeningEngine()
    await using api = await startApi({ engine, maxUploadBytes: 100_000 })
    expect((await api.post(new Uint8Array(100_001))).status).toBe(413)
    expect((await api.post(new Uint8Array(100_000))).status).toBe(200)
    expect(engine.bytes).toBe(100_000)
  })
})

test('25 MB are heard to their end', { timeout: 120_000 }, async () => {
  await using api = await startApi({ longAudioSeconds: Infinity })
  const samples = new Float32Array((24 * MEGABYTE) / 2)
  const response = await api.post(Uint8Array.from(wavFile(samples, { sampleRate: 48_000 })))
  expect(await response.json()).toMatchObject({ durationSeconds: samples.length / 48_000, segments: [] })
})

describe('a client that goes away', () => {
  test('in the middle of its upload aborts the transcription', async () => {
    const engine = createListeningEngine()
    await using api = await startApi({ engine })
    using request = sendRaw(api.url, { 'content-length': '1000000' }, Buffer.alloc(1_000))
    await engine.begun
    request.socket.destroy()
    expect(await engine.aborted).toMatchObject({ code: 'client_gone' })
  })

  test('while it waits for the answer aborts the transcription', async () => {
    const engine = createListeningEngine(new Promise(() => {}))
    await using api = await startApi({ engine })
    using request = sendRaw(api.url, { 'content-length': '1000' }, Buffer.alloc(1_000))
    await engine.begun
    request.socket.destroy()
    expect(await engine.aborted).toMatchObject({ code: 'client_gone' })
  })
})

test('too many recordings at a time are answered with 503 and a time to wait', async () => {
  const engine = { ...createListeningEngine(), transcribe: () => Promise.reject(new EngineBusyError('busy')) }
  await using api = await startApi({ engine })
  const response = await api.post('audio')
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toMatchObject({ error: { code: 'busy' } })
})

test('what is refused after its beginning is let finish, and its connection carries the next request', async () => {
  const engine = { ...createListeningEngine(), transcribe: () => Promise.reject(new EngineBusyError('busy')) }
  await using api = await startApi({ engine })
  const file = wavFile(new Float32Array(500_000))
  using request = sendRaw(api.url, { 'content-length': String(file.length) }, file.subarray(0, 1_000))
  expect(await request.received('"busy"')).toContain('HTTP/1.1 503')
  request.socket.write(file.subarray(1_000))
  request.socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await request.received('"listening"')
})

test('the health is told while uploads are under way, and needs no token', async () => {
  const rest = Promise.withResolvers<void>()
  const engine = createListeningEngine(rest.promise)
  await using api = await startApi({ engine })
  const uploads = Array.from({ length: 8 }, () => api.post('audio'))
  await engine.begun
  const health = await fetch(`${api.url}/healthz`)
  expect(health.status).toBe(200)
  expect(await health.json()).toEqual({ status: 'ok', engine: 'listening' })
  rest.resolve()
  expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(Array(8).fill(200))
})
