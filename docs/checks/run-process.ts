import { spawn } from 'node:child_process'

/** How a process ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a process to its end, 30 s at the most. */
export function runProcess(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env
    const child = spawn(command, args, {
      cwd,
      env: { ...inherited, NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (text) => (said.stdout += text))
    child.stderr.on('data', (text) => (said.stderr += text))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...said }))
  })
}
