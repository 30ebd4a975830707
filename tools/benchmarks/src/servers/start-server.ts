import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('server-process.ts', import.meta.url))

/** The resources that its process has used, and its requests so far. */
export interface ServerUsage {
  readonly cpuUs: number
  readonly heapBytes: number
  readonly requests: number
}

export interface RunningServer {
  readonly url: string
  readonly bodies: readonly string[]
  usage(): Promise<ServerUsage>
  stop(): void
}

/** Starts the server of that name (`./<name>.ts`) in a separate process. */
export async function startServer(name: string, options: object = {}): Promise<RunningServer> {
  const child = fork(program, [name, JSON.stringify(options)], {
    execArgv: ['--max-old-space-size=8192'],
    // oidc-provider warns that its memory adapter is for development.
    stdio: ['ignore', 'ignore', name === 'oidc-provider' ? 'ignore' : 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const failed = once(child, 'exit').then(() => {
    throw new Error(`The server ${name} ended`)
  })
  failed.catch(() => {})
  const next = async <Message>(): Promise<Message> =>
    ((await Promise.race([once(child, 'message'), failed])) as [Message])[0]
  const { url, bodies } = await next<{ url: string; bodies: string[] }>()
  return {
    url,
    bodies,
    usage() {
      child.send('usage')
      return next()
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
