import { spawn } from 'node:child_process'

export interface RunOptions {
  readonly folder: string
  /** @default the environment of this process */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** @default 300_000 */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** How a process ended, and what it wrote. */
export interface Ended {
  /** Null if it was killed, also because it exceeded its time limit. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, without standard input. */
export function runToEnd(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.folder,
      env: options.environment ?? process.env,
      timeout: options.timeoutMs ?? 300_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
    })
    const written = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...written }))
  })
}

/** Runs a program, and returns its standard output. Fails with all of its output unless it exits with 0. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(program, args, options)
  if (code === 0) return stdout
  const end = code === null ? 'was stopped, or did not end in time' : `failed with code ${code}`
  throw new Error(`\`${[program, ...args].join(' ')}\` ${end}\n${stdout}\n${stderr}`.trim())
}
