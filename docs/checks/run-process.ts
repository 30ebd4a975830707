import { spawn } from 'node:child_process'

/** The exit code and the output of a process. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a process to its end. */
export function runProcess(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
  timeoutMs = 60_000,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env
    const child = spawn(command, args, {
      cwd,
      env: { ...inherited, NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (text) => (said.stdout += text))
    child.stderr.on('data', (text) => (said.stderr += text))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...said }))
  })
}
