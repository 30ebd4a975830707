import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts the built server of the page in another process; returns a function that stops it. */
export async function spawnServer(env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL('../../dist/serve.js', import.meta.url))
  const inherited = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  const child = spawn(process.execPath, [script], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    const exited = once(child, 'exit')
    child.kill()
    await exited
  }
}
