import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findRecordings, RecordingError } from '../../src/command/find-recordings.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'))
  await mkdir(join(folder, 'talks/deep'), { recursive: true })
  await mkdir(join(folder, 'none'))
  for (const file of ['a.wav', 'talks/b.WAV', 'talks/deep/c.wave', 'talks/notes.txt', 'odd [1].wav']) {
    await writeFile(join(folder, file), file)
  }
  await writeFile(join(folder, 'empty.wav'), '')
})
afterAll(() => rm(folder, { recursive: true }))

async function namesOf(...given: string[]): Promise<string[]> {
  return (await findRecordings(given, folder)).map(({ name }) => name)
}

async function errorOf(name: string): Promise<string> {
  const [recording] = await findRecordings([name], folder)
  const error = await recording!.open().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(RecordingError)
  return (error as RecordingError).message
}

test('finds all recordings in a folder, and no other files', async () => {
  expect(await namesOf('talks')).toEqual(['talks/b.WAV', 'talks/deep/c.wave'])
})

test('finds the files that match a pattern, relative or absolute', async () => {
  expect(await namesOf('**/*.wav')).toEqual(['a.wav', 'empty.wav', 'odd [1].wav'])
  expect(await namesOf(`${folder}/a.*`)).toEqual(['a.wav'])
})

test('finds a file whose name looks like a pattern', async () => {
  expect(await namesOf('odd [1].wav')).toEqual(['odd [1].wav'])
  const [recording] = await findRecordings(['odd [1].wav'], folder)
  expect(await (await recording!.open()).text()).toBe('odd [1].wav')
})

test('keeps the order of the arguments and removes duplicates', async () => {
  expect(await namesOf('talks/b.WAV', 'a.wav', 'talks', './a.wav', 'a.wav')).toEqual([
    'talks/b.WAV',
    'a.wav',
    'talks/deep/c.wave',
  ])
})

test('reports an argument without recordings when it is opened', async () => {
  expect(await errorOf('gone.wav')).toBe('gone.wav does not exist.')
  expect(await errorOf('a.wav/b.wav')).toBe('a.wav/b.wav does not exist.')
  expect(await errorOf('none')).toBe('none contains no .wav files.')
  expect(await errorOf('*.mp3')).toBe('No file matches *.mp3.')
  expect(await errorOf('empty.wav')).toBe('empty.wav is empty.')
  expect(await errorOf('/dev/null')).toBe('/dev/null is not a file.')
})

test('reads standard input to the end', async () => {
  const [recording] = await findRecordings(
    ['-'],
    folder,
    Readable.from([Buffer.from('RI'), Buffer.from('FF')]),
  )
  expect(recording!.name).toBe('standard input')
  expect(await (await recording!.open()).text()).toBe('RIFF')
})

test('stops reading standard input after 25 MiB', async () => {
  let read = 0
  const endless = Readable.from(
    (function* () {
      for (;;) {
        read += 1_000_000
        yield Buffer.alloc(1_000_000)
      }
    })(),
  )
  const [recording] = await findRecordings(['-'], folder, endless)
  await expect(recording!.open()).rejects.toThrow(
    'standard input is too large. The speech API accepts up to 25 MiB.',
  )
  expect(read).toBeLessThan(50_000_000)
})
