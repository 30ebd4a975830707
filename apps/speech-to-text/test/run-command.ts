import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly input?: string | Buffer | undefined
  /** Called on the first output. */
  readonly onOutput?: (() => void) | undefined
}

/** What processes that the tests start get of this environment. */
export const inherited = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

/** Runs the built command in another process, with next to nothing of this environment. */
export function runCommand(
  name: 'transcribe' | 'demo',
  args: readonly string[],
  { cwd, env, input, onOutput }: CommandOptions = {},
): Promise<CommandResult> {
  const script = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, ...args],
      { cwd, env: { ...inherited, ...env } },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
        resolve({ code, stdout, stderr })
      },
    )
    if (onOutput) child.stdout?.once('data', onOutput)
    child.stdin?.end(input)
  })
}
