import { connect } from 'node:net'
import { createDigitsEngine, type SpeechEngine } from '@tokenwell/speech-api'
import { expect, test } from 'vitest'
import { wavFile } from '../../scripts/wav-file.ts'
import { createCountingEngine } from '../support/counting-engine.ts'
import { sendRaw } from '../support/raw-request.ts'
import { addClient, startTestApi } from '../support/test-api.ts'
import { recordings } from '../support/transcribe-file.ts'

const [sample] = recordings as [(typeof recordings)[number]]
const beginning = wavFile(new Float32Array(50_000)).subarray(0, 700)
const length = { 'content-length': '100044' }

test('32 stalled uploads of one client do not block another client', async () => {
  const engine = createDigitsEngine({ threads: 1 })
  await using api = await startTestApi({ engine })
  const stalled = Array.from({ length: 32 }, () => sendRaw(api.url, length, beginning))
  const rejected = stalled.slice(16).map((request) => request.received('"too_many_recordings"'))
  for (const response of await Promise.all(rejected)) expect(response).toContain('HTTP/1.1 429')
  const headers = addClient(api, 'another-client')
  for (let round = 0; round < 3; round++) {
    const response = await api.post(Uint8Array.from(sample.file), headers)
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
  const slow: SpeechEngine = {
    ...createCountingEngine(),
    async transcribe(audio) {
      let bytes = 0
      for await (const piece of audio) {
        bytes += piece.length
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      return { durationSeconds: bytes, segments: [] }
    },
  }
  const slowUploads = { idleMs: 80, graceMs: 80, minBytesPerSecond: 1_000_000 }
  await using api = await startTestApi({ engine: slow, slowUploads })
  const response = await api.post(new Uint8Array(200_000))
  expect(await response.json()).toMatchObject({ durationSeconds: 200_000 })
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
