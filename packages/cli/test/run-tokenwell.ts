import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { runCommandLine } from '../src/command-line.ts'
import type { CommandContext } from '../src/command-context.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in this process, with its own streams, environment and token cache. */
export async function runTokenwell(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
): Promise<Ended> {
  const stdin = new PassThrough().end(input)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const context = {
    stdin,
    stdout,
    stderr,
    env: { XDG_STATE_HOME: temporaryFolder({}), ...env },
  } as unknown as CommandContext
  const code = await runCommandLine(['node', 'tokenwell', ...args], context)
  return {
    code,
    stdout: await text(stdout.end()),
    stderr: stripVTControlCharacters(await text(stderr.end())),
  }
}
