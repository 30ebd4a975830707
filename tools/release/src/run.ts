import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface RunOptions {
  readonly folder: string
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Runs a program to its end and returns its standard output. Fails with its whole output. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  try {
    const { stdout } = await execute(program, args, {
      cwd: options.folder,
      env: options.environment ?? process.env,
      timeout: options.timeoutMs ?? 300_000,

      maxBuffer: 64 * 1024 ** 2,
      signal: options.signal,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '', code, killed } = error as ExecuteError
    const end = code === 'ABORT_ERR' ? 'was interrupted' : killed ? 'did not end in time' : `failed (${code})`
    const command = [program, ...args].join(' ')
    throw new Error(`\`${command}\` ${end}\n${stdout}\n${stderr}`.trim(), { cause: error })
  }
}

interface ExecuteError {
  readonly stdout?: string
  readonly stderr?: string
  readonly code?: number | string
  readonly killed?: boolean
}
