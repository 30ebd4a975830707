import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { startProgress } from '../../src/command/progress.ts'

test('in a pipe, how far a long recording is is told at each quarter, once', async () => {
  const pipe = new PassThrough()
  const progress = startProgress(2, pipe as unknown as NodeJS.WriteStream)
  progress.start('a.wav')
  progress.start('b.wav')
  for (const share of [undefined, 0, 0.1, 0.26, 0.3, 0.8, 0.9]) progress.hear('a.wav', share)
  progress.hear('b.wav', 0.5)
  progress.end('a.wav')
  await progress.close()
  expect(pipe.read().toString()).toBe('a.wav: 25 % heard\na.wav: 75 % heard\nb.wav: 50 % heard\n')
})
