import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { startProgress } from '../../src/command/progress.ts'

test('prints each quarter of a long recording once when the output is not a terminal', async () => {
  const pipe = new PassThrough()
  const progress = startProgress(2, pipe as unknown as NodeJS.WriteStream)
  progress.start('a.wav')
  progress.start('b.wav')
  for (const fraction of [undefined, 0, 0.1, 0.26, 0.3, 0.8, 0.9]) progress.update('a.wav', fraction)
  progress.update('b.wav', 0.5)
  progress.end('a.wav')
  await progress.close()
  expect(String(pipe.read(pipe.readableLength))).toBe('a.wav: 25%\na.wav: 75%\nb.wav: 50%\n')
})
