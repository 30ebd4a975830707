import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const command = fileURLToPath(new URL('../src/command/tokenwell-service.ts', import.meta.url))

// What the test runner sets for itself is not meant for the command.
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('TOKENWELL_')),
)

export interface EndedProcess {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command as its users run it, in a separate process that does not outlive the test. */
export interface ServiceProcess {
  readonly child: ChildProcess
  /** Resolves when it listens, and rejects if it exits instead. */
  readonly authUrl: Promise<string>
  readonly ended: Promise<EndedProcess>
  output(): string
}

export function runCommand(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; wrapper?: readonly string[] } = {},
): ServiceProcess {
  const [program = '', ...wrapped] = [
    ...(options.wrapper ?? []),
    process.execPath,
    '--conditions=@tokenwell/source',
    command,
    ...args,
  ]
  const child = spawn(program, wrapped, {
    cwd: options.cwd,
    env: { ...environment, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  const authUrl = new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      const url = /listening on (\S+)/.exec(stderr)?.[1]
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(`The service ended: ${stderr}`)))
  })
  authUrl.catch(() => {})
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, authUrl, ended, output: () => stdout + stderr }
}

/** A folder for one test, with the given files in it. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-service-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
