import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs a program to its end. Fails with all its output. */
export async function run(
  program: string,
  args: readonly string[],
  { folder, environment, timeoutMs = 300_000 }: RunOptions,
): Promise<string> {
  try {
    const { stdout } = await execute(program, args, {
      cwd: folder,
      env: { ...process.env, ...environment },
      timeout: timeoutMs,
      maxBuffer: 64 * 1024 ** 2,
    })
    return stdout
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      code,
      killed,
    } = error as {
      stdout?: string
      stderr?: string
      code?: number
      killed?: boolean
    }
    const end = killed ? `did not end in ${timeoutMs / 1000} s` : `failed (${code})`
    throw new Error(`${[program, ...args].join(' ')} ${end}\n${stdout}\n${stderr}`.trim(), { cause: error })
  }
}

export interface RunOptions {
  readonly folder: string
  readonly environment?: Record<string, string>
  readonly timeoutMs?: number
}
