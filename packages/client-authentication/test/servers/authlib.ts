import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { JWK } from 'jose'
import { onTestFinished } from 'vitest'

/** Debian's Python, where `python3-authlib` and `python3-flask` install to. */
const python = '/usr/bin/python3'

export const hasAuthlib = spawnSync(python, ['-c', 'import authlib, flask']).status === 0

/** A token endpoint by Authlib, for the client `orders` with these public keys. */
export async function startAuthlib(...keys: readonly JWK[]): Promise<{ readonly tokenEndpoint: string }> {
  const file = fileURLToPath(new URL('token_server.py', import.meta.url))
  const child = spawn(python, [file, JSON.stringify(keys)], {
    env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { tokenEndpoint: `http://127.0.0.1:${String(port).trim()}/token` }
}
