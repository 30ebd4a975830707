import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CommandEngineOptions,
  createCommandEngine,
  EngineBusyError,
  type EngineError,
} from '@tokenwell/speech-api'
import { wavFile } from '../../support/wav-file.ts'
import { tone } from '../../support/recordings.ts'
import { describeEngine } from '../describe-engine.ts'
import { allExited, acceptConnections, type ProgramConnections } from './program-connections.ts'
import { testCommand, longRunningCommand } from './test-program.ts'

describeEngine('the command engine', (maxRecordings) =>
  createCommandEngine({
    command: testCommand('recognise-samples'),
    concurrency: 1,
    maxWaiting: maxRecordings - 1,
  }),
)

const wav = wavFile(tone(440, 44_100, 1), { sampleRate: 44_100, channels: 2, encoding: 'float', bits: 32 })
const never = new AbortController().signal

let programs: ProgramConnections
beforeAll(async () => void (programs = await acceptConnections()))
afterAll(() => programs.close())

const engines: AsyncDisposable[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine[Symbol.asyncDispose]()
})

function engineThat(task: string, options: Partial<CommandEngineOptions> = {}) {
  const command = task === 'keep-running' ? longRunningCommand(programs) : testCommand(task)
  const engine = createCommandEngine({ command, ...options })
  engines.push({ [Symbol.asyncDispose]: () => engine.close() })
  return engine
}

async function* whole(file: Uint8Array = wav): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length; start += 65_536) yield file.subarray(start, start + 65_536)
}

async function transcribe(
  task: string,
  options?: Partial<CommandEngineOptions>,
): Promise<string | undefined> {
  const { segments } = await engineThat(task, options).transcribe(whole(), { signal: never })
  return segments[0]?.text
}

test('returns the output of the program as the transcript, with the duration of the recording', async () => {
  expect(await engineThat('print "four  two" {file}').transcribe(whole(), { signal: never })).toMatchObject({
    durationSeconds: 1,
    segments: [{ start: 0, end: 1 }],
  })
  expect(await transcribe('print four two')).toBe('four two')
})

test('passes every recording to the program as one channel of 16 kHz and 16 bits', async () => {
  expect(await transcribe('print-format')).toBe(`1 16000 16 ${36 + 32_000} 32000 ${44 + 32_000}`)
})

test('rejects a recording of which something is expected, without reading it', async () => {
  let read = false
  const audio = (async function* () {
    read = true
    yield wav
  })()
  const transcription = engineThat('print-times').transcribe(audio, {
    signal: never,
    expected: { grammar: 'digits' },
  })
  await expect(transcription).rejects.toMatchObject({ code: 'grammar_not_supported' })
  expect(read).toBe(false)
})

test('reports the progress of the program', async () => {
  const progress: number[] = []
  const options = { signal: never, onProgress: (seconds: number) => progress.push(seconds) }
  await engineThat('print-times').transcribe(whole(), options)
  expect(progress).toEqual([0, 1.5, 3])
})

test('passes only the given environment variables to the program', async () => {
  const environment = { PATH: process.env['PATH'], MODEL: 'large' }
  expect((await transcribe('print-environment', { environment }))?.split(' ')).toEqual(['MODEL', 'PATH'])
})

test('removes the recording from the disk afterwards', async () => {
  const file = await transcribe('print-path')
  expect(file).toMatch(/recording\.wav$/)
  expect(existsSync(dirname(file!))).toBe(false)
})

test('reports a failed program with a sentence for the client and the end of stderr for the log', async () => {
  const error = await transcribe('fail').catch((error: EngineError) => error)
  expect(error).toMatchObject({ code: 'engine_failed', message: expect.stringMatching(/^[A-Z][^\n]*\.$/) })
  const { message, stderrTail, cause } = error as EngineError
  expect(message).not.toContain('the model')
  expect(stderrTail).toMatch(/the model is missing$/)
  expect(stderrTail?.length).toBeLessThan(5_000)
  expect(String(cause)).toContain('exit code 3')
})

test.each(['print {', 'print-forever'])(
  'treats invalid output of the program as a failure: %s',
  async (task) => {
    await expect(transcribe(task)).rejects.toMatchObject({ code: 'engine_failed' })
  },
)

test('kills a program that takes too long, and its child processes', async () => {
  // Triggered by hand: a program may take longer to start on a busy machine.
  const limit = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(limit.signal)
  onTestFinished(() => timeout.mockRestore())
  const connected = programs.next(1)
  const transcription = transcribe('keep-running', { timeoutMs: 500 }).catch((error: unknown) => error)
  const running = await connected
  expect(timeout.mock.calls).toEqual([[500]])
  limit.abort(new DOMException('', 'TimeoutError'))
  expect(await transcription).toMatchObject({
    code: 'engine_timeout',
    message: 'Transcribing the recording took longer than 0.5 s.',
  })
  await allExited(running)
})

test('kills the program and its child processes on an abort', async () => {
  const controller = new AbortController()
  const connected = programs.next(1)
  const transcription = engineThat('keep-running').transcribe(whole(), {
    signal: controller.signal,
  })
  const running = await connected
  controller.abort(new Error('enough'))
  await expect(transcription).rejects.toThrow('enough')
  await allExited(running)
})

test('kills all programs and empties the queue on close', async () => {
  const engine = engineThat('keep-running', { concurrency: 1 })
  const connected = programs.next(1)
  const all = Array.from({ length: 3 }, () => engine.transcribe(whole(), { signal: never }))
  const results = Promise.allSettled(all)
  const running = await connected
  await engine.close()
  for (const result of await results) expect(result).toMatchObject({ reason: { code: 'engine_closed' } })
  await allExited(running)
  await expect(engine.transcribe(whole(), { signal: never })).rejects.toMatchObject({ code: 'engine_closed' })
})

test('limits the running programs and the queue, and rejects further recordings', async () => {
  const engine = engineThat('keep-running', { concurrency: 2, maxWaiting: 1 })
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const transcribe = ({ signal }: AbortController) =>
    engine.transcribe(whole(), { signal }).catch((error: unknown) => error)
  const [one, , three, four] = controllers as [
    AbortController,
    AbortController,
    AbortController,
    AbortController,
  ]
  const connected = programs.next(2)
  const first = controllers.slice(0, 3).map(transcribe)
  expect(engine.busy).toBe(true)
  expect(await transcribe(four)).toBeInstanceOf(EngineBusyError)
  await connected

  // A waiting recording leaves the queue immediately.
  three.abort('no longer needed')
  expect(await first[2]).toBe('no longer needed')
  expect(engine.busy).toBe(false)
  // A running one makes room for the next in the queue.
  const waiting = transcribe(four)
  expect(engine.busy).toBe(true)
  const next = programs.next(1)
  one.abort('no longer needed')
  expect(await first[0]).toBe('no longer needed')
  await next
  await engine.close()
  expect(await waiting).toMatchObject({ code: 'engine_closed' })
})
