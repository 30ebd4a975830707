import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import type { CommandContext } from '../src/output.ts'
import { runCommandLine } from '../src/command-line.ts'

const script = fileURLToPath(new URL('../dist/tokenwell.js', import.meta.url))

/** The built command. */
export const command = [process.execPath, script] as const

export interface TokenwellProcess {
  readonly child: ChildProcess
  /** The output so far. */
  readonly written: { stdout: string; stderr: string }
  /** Resolves once the text has been written to either. */
  readonly wrote: (text: string) => Promise<void>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

/** Starts a program with next to nothing of this process's environment. */
export function startProcess(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TokenwellProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(program!, args, { env: { PATH, NODE_COMPILE_CACHE, ...env }, stdio: 'pipe' })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text))
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    written,
    ended,
    wrote: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if ((written.stdout + written.stderr).includes(text)) resolve()
        }
        child.stdout.on('data', look)
        child.stderr.on('data', look)
        void ended.then(() => reject(new Error(`It ended: ${written.stdout}${written.stderr}`)))
        look()
      }),
  }
}

/** Starts the built command. */
export function startTokenwell(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): TokenwellProcess {
  return startProcess([...command, ...args], env)
}

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

/** Creates a folder with private files for one test. */
export function temporaryFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-cli-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
