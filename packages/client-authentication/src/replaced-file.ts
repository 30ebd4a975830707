import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { configurationError } from '@tokenwell/core/protocol'

/** A file that is missing or incomplete may be in the middle of its replacement: it is read again. */
const maxReads = 3
const rereadMs = 50

/**
 * Reads a text that may be replaced at any time, without its last line break.
 *
 * @param what the file is, in messages, such as `assertion file`
 * @throws {TokenError} of kind `configuration` if it cannot be read or is empty
 */
export async function readReplacedFile(
  path: string,
  what: string,
  isComplete: (text: string) => boolean = (text) => text !== '',
): Promise<string> {
  for (let reads = 1; ; reads++) {
    const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error)
    const text = typeof content === 'string' ? content.trim() : ''
    if (text !== '' && (reads === maxReads || isComplete(text))) return text
    if (reads === maxReads) {
      throw configurationError(
        typeof content === 'string'
          ? `The ${what} ${path} is empty. Check what writes it.`
          : `Could not read the ${what} ${path} (${content.code}). Check its path and its permissions.`,
      )
    }
    await setTimeout(rereadMs)
  }
}
