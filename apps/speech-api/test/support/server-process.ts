import { spawn } from 'node:child_process'
import process from 'node:process'
import { createInterface } from 'node:readline'

/** Starts a server in another process, on a free port. */
export function startProcess(main: string, authUrl: string, more: Record<string, string> = {}) {
  return spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PORT: '0',
      AUTH_URL: authUrl,
      CLIENT_ID: 'id',
      CLIENT_SECRET: 'secret',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The address that a server logs when it listens. */
export async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const address = /Server listening at (http\S+?)"/.exec(line)?.[1]
    if (address) {
      output.resume()
      return address
    }
  }
  throw new Error('The server exited before it listened.')
}
