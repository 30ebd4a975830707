import { expect, onTestFinished, test } from 'vitest'
import { createCommandEngine } from '@tokenwell/speech-api'
import { sampleOf, withFile } from '../support/recordings.ts'

const { wav } = sampleOf('digits')

function transcribe(
  command: string,
  { signal } = new AbortController(),
  env: NodeJS.ProcessEnv = process.env,
) {
  const engine = createCommandEngine(command, env)
  onTestFinished(() => engine.close())
  const progress: number[] = []
  const onProgress = (part: number) => void progress.push(part)
  const transcript = withFile(wav, (path) =>
    engine.transcribe(path, { expected: { expected: 'speech' }, signal, onProgress }),
  )
  return { engine, transcript, progress }
}

test('reads lines with times, as whisper-cli prints them, and reports the progress', async () => {
  const lines = '\\n[00:00:00.000 --> 00:00:01.000]   Hello,\\n[00:01.500 --> 00:00:02.375]  world.\\n'
  const { transcript, progress } = transcribe(`printf '${lines}' {file}`)
  expect(await transcript).toEqual({
    durationSeconds: 2.375,
    segments: [
      { start: 0, end: 1, text: 'Hello,' },
      { start: 1.5, end: 2.375, text: 'world.' },
    ],
    warnings: [],
  })
  expect(progress).toEqual([1 / 2.375, 1])
})

test('reads plain text as one segment, from a program that gets the recording and no secret', async () => {
  const { transcript } = transcribe('head -c 4 {file}; echo " $SECRET  two"', undefined, {
    PATH: process.env['PATH'],
  })
  expect((await transcript).segments).toEqual([{ start: 0, end: 2.375, text: 'RIFF two' }])
})

test('warns when the program prints nothing', async () => {
  expect(await transcribe('true {file}').transcript).toMatchObject({
    warnings: [{ code: 'nothing_recognised' }],
  })
})

test.each(['exit 3 # {file}', 'no-such-program {file}'])(
  'reports that the program failed: %s',
  async (command) => {
    await expect(transcribe(command).transcript).rejects.toMatchObject({ status: 502, code: 'engine_failed' })
  },
)

test('kills the program and its children when the recording is aborted, or the engine closes', async () => {
  const controller = new AbortController()
  const aborted = transcribe('sleep 600 & sleep 600; true {file}', controller)
  controller.abort(new Error('enough'))
  await expect(aborted.transcript).rejects.toThrow('enough')
  const closed = transcribe('sleep 600 & sleep 600; true {file}')
  await closed.engine.close()
  await expect(closed.transcript).rejects.toMatchObject({ status: 503, code: 'engine_closed' })
})

test('rejects a command without the recording', () => {
  expect(() => createCommandEngine('whisper-cli')).toThrow(
    'SPEECH_ENGINE does not contain {file}: whisper-cli',
  )
})
