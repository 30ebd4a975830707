import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Debian's Python, where `python3-authlib` and `python3-flask` install to. */
const python = '/usr/bin/python3'

export const hasAuthlib = spawnSync(python, ['-c', 'import authlib, flask']).status === 0

/** An introspection endpoint by Authlib. */
export async function startAuthlib(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const file = fileURLToPath(new URL('introspection_server.py', import.meta.url))
  const child = spawn(python, [file], {
    env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: `http://127.0.0.1:${String(port).trim()}/introspect`,
    async close() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
