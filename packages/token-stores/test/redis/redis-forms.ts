import { setTimeout } from 'node:timers/promises'
import { createClient } from 'redis'
import { startRedis } from '@tokenwell/internal-testing/redis'
import { startRedisCluster } from '@tokenwell/internal-testing/redis-cluster'
import { startRedisSentinel } from '@tokenwell/internal-testing/redis-sentinel'
import type { MemberSettings } from './fleet-member.ts'

/** Redis servers, and how the members of a fleet connect to them. */
interface Servers extends AsyncDisposable {
  readonly redis: MemberSettings['redis']
}

export async function oneServer(): Promise<Servers> {
  const server = await startRedis()
  return {
    redis: { form: 'server', ports: [server.port] },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export async function cluster(): Promise<Servers> {
  const servers = await startRedisCluster()
  return {
    redis: { form: 'cluster', ports: servers.nodes.map(({ port }) => port) },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}

export async function sentinel(): Promise<Servers> {
  const servers = await startRedisSentinel()
  return {
    redis: { form: 'sentinel', ports: [servers.sentinel.port] },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}

/** Moves the slot of the tokens in a cluster from the node that has it to the next one, as `redis-cli --cluster reshard` does. */
export async function moveSlot(ports: readonly number[], openMs: number): Promise<void> {
  const nodes = await Promise.all(
    ports.map(async (port) => {
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
      const run = (...command: string[]): Promise<unknown> => client.sendCommand(command)
      const id = String(await run('CLUSTER', 'MYID'))
      return { port, run, id, keys: await client.keys('tokenwell:*'), close: () => client.destroy() }
    }),
  )
  try {
    const at = nodes.findIndex(({ keys }) => keys.length > 0)
    if (at === -1) return
    const [from, to] = [nodes[at]!, nodes[(at + 1) % nodes.length]!]
    const slot = String(await from.run('CLUSTER', 'KEYSLOT', from.keys[0]!))
    await to.run('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
    await from.run('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
    await setTimeout(openMs)
    const keys = (await from.run('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[]
    if (keys.length > 0)
      await from.run('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys)
    await setTimeout(openMs)
    for (const node of [to, from, ...nodes]) await node.run('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
  } finally {
    for (const node of nodes) node.close()
  }
}
