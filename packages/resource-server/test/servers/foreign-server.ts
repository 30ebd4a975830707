import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ForeignServer {
  readonly origin: string
  close(): Promise<void>
}

/** Starts a program of this folder that writes its port on a line. */
export async function startProgram(
  command: string,
  [file, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<ForeignServer> {
  const child = spawn(command, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr.on('data', (text) => said.push(String(text)))
  const ended = once(child, 'exit')
  const [port] = (await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`${file} ended: ${said.join('')}`))),
  ])) as [Buffer]
  return {
    origin: `http://127.0.0.1:${String(port).trim()}`,
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
