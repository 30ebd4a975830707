import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

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
