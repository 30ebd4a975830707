import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findRecordings } from '../../src/command/find-recordings.ts'
import { InputError } from '../../src/command/input-error.ts'

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

async function complaintAbout(name: string): Promise<string> {
  const [recording] = await findRecordings([name], folder)
  const error = await recording!.open().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(InputError)
  return (error as InputError).message
}

test('a folder stands for the recordings anywhere in it, and for nothing else in it', async () => {
  expect(await namesOf('talks')).toEqual(['talks/b.WAV', 'talks/deep/c.wave'])
})

test('a pattern stands for the files that match it, also an absolute one', async () => {
  expect(await namesOf('**/*.wav')).toEqual(['a.wav', 'empty.wav', 'odd [1].wav'])
  expect(await namesOf(`${folder}/a.*`)).toEqual(['a.wav'])
})

test('a file whose name looks like a pattern is that file', async () => {
  expect(await namesOf('odd [1].wav')).toEqual(['odd [1].wav'])
  const [recording] = await findRecordings(['odd [1].wav'], folder)
  expect(await (await recording!.open()).text()).toBe('odd [1].wav')
})

test('the order is the order of the arguments, and what is named twice is done once', async () => {
  expect(await namesOf('talks/b.WAV', 'a.wav', 'talks', './a.wav', 'a.wav')).toEqual([
    'talks/b.WAV',
    'a.wav',
    'talks/deep/c.wave',
  ])
})

test('what names nothing says so when its turn comes', async () => {
  expect(await complaintAbout('gone.wav')).toBe('gone.wav does not exist.')
  expect(await complaintAbout('a.wav/b.wav')).toBe('a.wav/b.wav does not exist.')
  expect(await complaintAbout('none')).toBe('none is a folder with no .wav files in it.')
  expect(await complaintAbout('*.mp3')).toBe('No file matches *.mp3.')
  expect(await complaintAbout('empty.wav')).toBe('empty.wav is empty.')
  expect(await complaintAbout('/dev/null')).toBe('/dev/null is not a file.')
})

test('standard input is read to its end', async () => {
  const [recording] = await findRecordings(
    ['-'],
    folder,
    Readable.from([Buffer.from('RI'), Buffer.from('FF')]),
  )
  expect(recording!.name).toBe('standard input')
  expect(await (await recording!.open()).text()).toBe('RIFF')
})

test('standard input without end is given up at 25 MB', async () => {
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
    'standard input is too large: the speech API takes 25 MB at most.',
  )
  expect(read).toBeLessThan(50_000_000)
})
