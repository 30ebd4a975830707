import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'

/** A recording cannot be transcribed. The message is one sentence that names it. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

/** A recording to transcribe. It is opened only when it is sent. */
export interface Recording {
  /** The path as the user would write it. */
  readonly name: string
  /** The same for every way to write the same path. */
  readonly id: string
  /** @throws {RecordingError} */
  open(): Promise<Blob>
}

/** The limit of the speech API. Larger files are not sent. */
const maxBytes = 25 * 1024 * 1024

/**
 * Finds the recordings for these arguments: files, folders (searched for .wav and .wave), glob patterns, and `-` for
 * standard input. An argument without a match becomes a recording that throws when it is opened.
 *
 * @param folder the base of relative paths
 */
export async function findRecordings(
  names: readonly string[],
  folder: string,
  standardInput: NodeJS.ReadableStream = process.stdin,
): Promise<Recording[]> {
  const found = await Promise.all(names.map((name) => find(name, folder, standardInput)))
  return [...new Map(found.flat().map((recording) => [recording.id, recording])).values()]
}

async function find(
  name: string,
  folder: string,
  standardInput: NodeJS.ReadableStream,
): Promise<Recording[]> {
  if (name === '-') return [inStandardInput(standardInput)]
  const path = resolve(folder, name)
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory()) return inFolder(name, path, folder)
  if (!stats && isDynamicPattern(name)) return matching(name, folder)
  return [inFile(name, path)]
}

async function inFolder(name: string, path: string, folder: string): Promise<Recording[]> {
  const files = await glob('**/*.{wav,wave}', { cwd: path, absolute: true, caseSensitiveMatch: false })
  if (files.length === 0) return [missing(name, `${name} contains no .wav files.`)]
  return files.sort().map((file) => inFile(relative(folder, file), file))
}

async function matching(pattern: string, folder: string): Promise<Recording[]> {
  const files = await glob(pattern, { cwd: folder, absolute: true, expandDirectories: false })
  if (files.length === 0) return [missing(pattern, `No file matches ${pattern}.`)]
  return files.sort().map((file) => inFile(relative(folder, file), file))
}

function inFile(name: string, path: string): Recording {
  return {
    name,
    id: path,
    async open() {
      const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw new RecordingError(explain(name, error))
      })
      if (!stats.isFile()) throw new RecordingError(`${name} is not a file.`)
      checkSize(name, stats.size)
      return openAsBlob(path, { type: 'audio/wav' }).catch((error: NodeJS.ErrnoException) => {
        throw new RecordingError(explain(name, error))
      })
    },
  }
}

function inStandardInput(stream: NodeJS.ReadableStream): Recording {
  const name = 'standard input'
  return {
    name,
    id: '-',
    async open() {
      const chunks: Buffer<ArrayBuffer>[] = []
      let bytes = 0
      for await (const chunk of stream as AsyncIterable<Buffer<ArrayBuffer>>) {
        bytes += chunk.length
        // The rest is not read.
        if (bytes > maxBytes) break
        chunks.push(chunk)
      }
      checkSize(name, bytes)
      return new Blob(chunks, { type: 'audio/wav' })
    },
  }
}

function missing(name: string, sentence: string): Recording {
  return { name, id: name, open: () => Promise.reject(new RecordingError(sentence)) }
}

function checkSize(name: string, bytes: number): void {
  if (bytes === 0) throw new RecordingError(`${name} is empty.`)
  if (bytes <= maxBytes) return
  throw new RecordingError(`${name} is too large. The speech API accepts up to 25 MiB.`)
}

function explain(name: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${name} does not exist.`
  if (code === 'EACCES' || code === 'EPERM') return `You do not have permission to read ${name}.`
  return `${name} could not be read (${code}).`
}
