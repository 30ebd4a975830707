import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import {
  type CommandEngineOptions,
  createCommandEngine,
  EngineBusyError,
  type EngineError,
} from '@tokenwell/speech-api'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { wavFile } from '../../scripts/wav-file.ts'
import { describeEngine } from '../describe-engine.ts'
import { tone } from '../tone.ts'
import { commandThat, commandThatStays } from './command-that.ts'
import { gone, receiveVisitors, type Visitors } from './visitors.ts'

describeEngine('the command engine', (most) =>
  createCommandEngine({ command: commandThat('hears-digits'), concurrency: 1, maxWaiting: most - 1 }),
)

const wav = wavFile(tone(440, 44_100, 1), { sampleRate: 44_100, channels: 2, encoding: 'float', bits: 32 })
const never = new AbortController().signal

let visitors: Visitors
beforeAll(async () => void (visitors = await receiveVisitors()))
afterAll(() => visitors.close())

const engines: AsyncDisposable[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine[Symbol.asyncDispose]()
})

function engineThat(task: string, options: Partial<CommandEngineOptions> = {}) {
  const command = task === 'stays' ? commandThatStays(visitors) : commandThat(task)
  const engine = createCommandEngine({ command, ...options })
  engines.push({ [Symbol.asyncDispose]: () => engine.close() })
  return engine
}

async function* whole(file: Uint8Array = wav): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length; start += 65_536) yield file.subarray(start, start + 65_536)
}

async function said(task: string, options?: Partial<CommandEngineOptions>): Promise<string | undefined> {
  const { segments } = await engineThat(task, options).transcribe(whole(), { signal: never })
  return segments[0]?.text
}

test('what the program prints is the transcript, with the length of the recording', async () => {
  expect(await engineThat('says "four  two" {file}').transcribe(whole(), { signal: never })).toMatchObject({
    durationSeconds: 1,
    segments: [{ start: 0, end: 1 }],
  })
  expect(await said('says four two')).toBe('four two')
})

test('the program gets every recording in one channel of 16 kHz and 16 bits', async () => {
  expect(await said('tells-format')).toBe(`1 16000 16 ${36 + 32_000} 32000 ${44 + 32_000}`)
})

test('what the program has heard so far is told', async () => {
  const heard: number[] = []
  const options = { signal: never, onProgress: (seconds: number) => heard.push(seconds) }
  await engineThat('tells-progress').transcribe(whole(), options)
  expect(heard).toEqual([0, 1.5, 3])
})

test('the program gets the environment that it is given, and no other', async () => {
  const environment = { PATH: process.env['PATH'], MODEL: 'large' }
  expect((await said('tells-environment', { environment }))?.split(' ')).toEqual(['MODEL', 'PATH'])
})

test('the recording is gone from the disk afterwards', async () => {
  const file = await said('tells-file')
  expect(file).toMatch(/recording\.wav$/)
  expect(existsSync(dirname(file!))).toBe(false)
})

test('a program that fails: a sentence for the client, and its last words for the log', async () => {
  const error = await said('fails').catch((error: EngineError) => error)
  expect(error).toMatchObject({ code: 'engine_failed', message: expect.stringMatching(/^[A-Z][^\n]*\.$/) })
  const { message, lastWords, cause } = error as EngineError
  expect(message).not.toContain('gears')
  expect(lastWords).toMatch(/the gears jammed$/)
  expect(lastWords?.length).toBeLessThan(5_000)
  expect(String(cause)).toContain('exit code 3')
})

test.each(['says {', 'chatters'])(
  'a program that prints what is no transcript has failed: %s',
  async (task) => {
    await expect(said(task)).rejects.toMatchObject({ code: 'engine_failed' })
  },
)

test('a program that takes too long is ended, together with what it has started', async () => {
  // By hand: how long a program takes to start is the machine's affair.
  const limit = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(limit.signal)
  onTestFinished(() => timeout.mockRestore())
  const come = visitors.next(1)
  const transcription = said('stays', { timeoutMs: 500 }).catch((error: unknown) => error)
  const running = await come
  expect(timeout.mock.calls).toEqual([[500]])
  limit.abort(new DOMException('', 'TimeoutError'))
  expect(await transcription).toMatchObject({
    code: 'engine_timeout',
    message: 'The recording was not transcribed within 0.5 s.',
  })
  await gone(running)
})

test('an abort ends the program, together with what it has started', async () => {
  const controller = new AbortController()
  const come = visitors.next(1)
  const transcription = engineThat('stays').transcribe(whole(), {
    signal: controller.signal,
  })
  const running = await come
  controller.abort(new Error('enough'))
  await expect(transcription).rejects.toThrow('enough')
  await gone(running)
})

test('a closing engine ends all programs, and what waits for its turn', async () => {
  const engine = engineThat('stays', { concurrency: 1 })
  const come = visitors.next(1)
  const all = Array.from({ length: 3 }, () => engine.transcribe(whole(), { signal: never }))
  const ends = Promise.allSettled(all)
  const running = await come
  await engine.close()
  for (const end of await ends) expect(end).toMatchObject({ reason: { code: 'engine_closed' } })
  await gone(running)
  await expect(engine.transcribe(whole(), { signal: never })).rejects.toMatchObject({ code: 'engine_closed' })
})

test('as many programs run as may, as many wait as may, and the next is refused', async () => {
  const engine = engineThat('stays', { concurrency: 2, maxWaiting: 1 })
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const transcribe = ({ signal }: AbortController) =>
    engine.transcribe(whole(), { signal }).catch((error: unknown) => error)
  const [one, , three, four] = controllers as [
    AbortController,
    AbortController,
    AbortController,
    AbortController,
  ]
  const come = visitors.next(2)
  const first = controllers.slice(0, 3).map(transcribe)
  expect(engine.busy).toBe(true)
  expect(await transcribe(four)).toBeInstanceOf(EngineBusyError)
  await come

  // One that waits leaves at once, although no turn has come.
  three.abort('gone')
  expect(await first[2]).toBe('gone')
  expect(engine.busy).toBe(false)
  // One that runs makes room for the next in the queue.
  const waiting = transcribe(four)
  expect(engine.busy).toBe(true)
  const next = visitors.next(1)
  one.abort('gone')
  expect(await first[0]).toBe('gone')
  await next
  await engine.close()
  expect(await waiting).toMatchObject({ code: 'engine_closed' })
})
