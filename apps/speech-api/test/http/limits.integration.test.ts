import { connect } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { EngineBusyError, createGrammarEngine } from '@tokenwell/speech-api'
import { limitSlowUpload } from '../../src/http/read-upload.ts'
import { wavFile } from '../support/wav-file.ts'
import { sendRaw } from '../support/raw-request.ts'
import { startTestApi, createCountingEngine, addClient } from '../support/test-api.ts'
import { digits as sample } from '../support/recordings.ts'

const MEGABYTE = 1_048_576
const TOO_LARGE = { error: { code: 'too_large', message: 'The recording is larger than 25 MiB.' } }

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

describe('a recording larger than 25 MiB', () => {
  test('is rejected by its Content-Length before it is read', async () => {
    const engine = createCountingEngine()
    await using api = await startTestApi({ engine })
    using request = sendRaw(api.url, { 'content-length': String(30 * MEGABYTE) })
    expect(await request.received('too_large')).toContain('HTTP/1.1 413 Payload Too Large')
    expect(engine.calls).toBe(0)
  })

  test('is rejected by its Content-Length even if the client sends it all', async () => {
    await using api = await startTestApi({ engine: createCountingEngine() })
    const response = await api.post(new Uint8Array(30 * MEGABYTE))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual(TOO_LARGE)
  })

  test('is rejected while it is read if it has no Content-Length', async () => {
    const engine = createCountingEngine()
    await using api = await startTestApi({ engine })
    const response = await api.post(endless(30 * MEGABYTE))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual(TOO_LARGE)
    expect(engine.bytes).toBeLessThanOrEqual(25 * MEGABYTE)
  })

  test('is rejected in a form', async () => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(3 * MEGABYTE)]), 'large.wav')
    const { headers, body } = new Response(form)
    await using api = await startTestApi({ engine: createCountingEngine(), maxUploadBytes: 2 * MEGABYTE })
    const type = headers.get('content-type') ?? ''
    const response = await api.post(body as ReadableStream, { 'content-type': type })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: 'too_large' } })
  })

  test('by one byte is rejected, while one of exactly that size is read', async () => {
    const engine = createCountingEngine()
    await using api = await startTestApi({ engine, maxUploadBytes: 100_000 })
    expect((await api.post(new Uint8Array(100_001))).status).toBe(413)
    expect((await api.post(new Uint8Array(100_000))).status).toBe(200)
    expect(engine.bytes).toBe(100_000)
  })
})

describe('a client that disconnects', () => {
  test('during its upload aborts the transcription', async () => {
    const engine = createCountingEngine()
    await using api = await startTestApi({ engine })
    using request = sendRaw(api.url, { 'content-length': '1000000' }, Buffer.alloc(1_000))
    await engine.started
    request.socket.destroy()
    expect(await engine.aborted).toMatchObject({ code: 'client_disconnected' })
  })

  test('while it waits for the response aborts the transcription', async () => {
    const engine = createCountingEngine(new Promise(() => {}))
    await using api = await startTestApi({ engine })
    using request = sendRaw(api.url, { 'content-length': '1000' }, Buffer.alloc(1_000))
    await engine.started
    request.socket.destroy()
    expect(await engine.aborted).toMatchObject({ code: 'client_disconnected' })
  })
})

test('responds with 503 and Retry-After when the engine is busy', async () => {
  const engine = { ...createCountingEngine(), transcribe: () => Promise.reject(new EngineBusyError('busy')) }
  await using api = await startTestApi({ engine })
  const response = await api.post('audio')
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toMatchObject({ error: { code: 'busy' } })
})

test('reads the rest of a rejected upload and reuses the connection', async () => {
  const engine = { ...createCountingEngine(), transcribe: () => Promise.reject(new EngineBusyError('busy')) }
  await using api = await startTestApi({ engine })
  const file = wavFile(new Float32Array(500_000))
  using request = sendRaw(api.url, { 'content-length': String(file.length) }, file.subarray(0, 1_000))
  expect(await request.received('"busy"')).toContain('HTTP/1.1 503')
  request.socket.write(file.subarray(1_000))
  request.socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await request.received('"counting"')
})

test('reports its health without a token, also during uploads', async () => {
  const rest = Promise.withResolvers<void>()
  const engine = createCountingEngine(rest.promise)
  await using api = await startTestApi({ engine })
  const uploads = Array.from({ length: 8 }, () => api.post('audio'))
  await engine.started
  const health = await fetch(`${api.url}/healthz`)
  expect(health.status).toBe(200)
  expect(await health.json()).toEqual({ status: 'ok', engine: 'counting' })
  rest.resolve()
  expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(Array(8).fill(200))
})

const beginning = wavFile(new Float32Array(50_000)).subarray(0, 700)
const length = { 'content-length': '100044' }

test('32 stalled uploads of one client do not block another client', async () => {
  const engine = createGrammarEngine({ threads: 1 })
  await using api = await startTestApi({ engine })
  const stalled = Array.from({ length: 32 }, () => sendRaw(api.url, length, beginning))
  const rejected = stalled.slice(16).map((request) => request.received('"too_many_recordings"'))
  for (const response of await Promise.all(rejected)) expect(response).toContain('HTTP/1.1 429')
  const headers = addClient(api, 'another-client')
  for (let round = 0; round < 3; round++) {
    const response = await api.post(sample.wav, headers)
    expect(await response.json()).toMatchObject({ text: sample.text })
  }
  for (const request of stalled) request.socket.destroy()
  await engine.close()
})

test('rejects an upload that stops, and closes the connection', async () => {
  const engine = createCountingEngine()
  await using api = await startTestApi({ engine, slowUploads: { idleMs: 50 } })
  using request = sendRaw(api.url, length, beginning)
  const response = await request.received('"upload_too_slow"')
  expect(response).toContain('HTTP/1.1 408 Request Timeout')
  expect(response.toLowerCase()).toContain('connection: close')
  await request.closed
})

test('rejects an upload that stops inside a form', async () => {
  await using api = await startTestApi({ engine: createCountingEngine(), slowUploads: { idleMs: 50 } })
  const form = { ...length, 'content-type': 'multipart/form-data; boundary=x' }
  using request = sendRaw(api.url, form, '--x\r\ncontent-disposition: form-data; name="note"\r\n\r\nno')
  expect(await request.received('"upload_too_slow"')).toContain('HTTP/1.1 408')
})

test('rejects an upload below the minimum rate', async () => {
  const slowUploads = { minBytesPerSecond: 100_000, graceMs: 100 }
  await using api = await startTestApi({ engine: createCountingEngine(), slowUploads })
  using request = sendRaw(api.url, length, beginning)
  const drip = setInterval(() => request.socket.write(new Uint8Array(10)), 10)
  try {
    expect(await request.received('"upload_too_slow"')).toContain('HTTP/1.1 408')
  } finally {
    clearInterval(drip)
  }
})

test('does not blame the client for a slow engine', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  async function* upload() {
    for (let piece = 0; piece < 4; piece++) yield new Uint8Array(50_000)
  }
  const limits = { idleMs: 80, graceMs: 80, minBytesPerSecond: 1_000_000 }
  let bytes = 0
  for await (const piece of limitSlowUpload(upload(), limits)) {
    bytes += piece.length
    await vi.advanceTimersByTimeAsync(10_000)
  }
  expect(bytes).toBe(200_000)
})

test('closes a connection that does not send its headers', async () => {
  await using api = await startTestApi({ engine: createCountingEngine(), slowUploads: { headersMs: 100 } })
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.write('POST /v1/transcriptions HTTP/1.1\r\nhost: localhost\r\n')
  let received = ''
  for await (const bytes of socket) received += String(bytes)
  expect(received).toContain('HTTP/1.1 408 Request Timeout')
})
