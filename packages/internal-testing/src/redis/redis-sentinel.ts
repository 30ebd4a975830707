import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from 'redis'
import { startProcess, startRedis, type RedisServer } from './redis-server.ts'

export interface RedisSentinelServers extends AsyncDisposable {
  readonly master: RedisServer
  readonly replica: RedisServer
  readonly sentinel: RedisServer
}

/**
 * A master named `main`, its replica, and a sentinel that promotes the replica two seconds after the master died. A
 * master that is paused for a moment remains the master.
 */
export async function startRedisSentinel(): Promise<RedisSentinelServers> {
  const master = await startRedis(['--repl-diskless-sync-delay', '0'])
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)])
  const sentinel = await startProcess(async (folder) => {
    const file = join(folder, 'sentinel.conf')
    const lines = [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds main 2000',
      'sentinel failover-timeout main 3000',
    ]
    await writeFile(file, `${lines.join('\n')}\n`)
    return [file, '--sentinel']
  })
  const client = await createClient({ url: sentinel.url }).connect()
  // The sentinel finds the replica through the master; a client that connects later gets no event about it.
  while ((await client.sendCommand<unknown[]>(['SENTINEL', 'replicas', 'main'])).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  client.destroy()
  return {
    master,
    replica,
    sentinel,
    async [Symbol.asyncDispose]() {
      await Promise.all([sentinel, replica, master].map((server) => server[Symbol.asyncDispose]()))
    },
  }
}
