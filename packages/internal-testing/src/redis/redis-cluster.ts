import { createClient } from 'redis'
import { freePort } from '../free-port.ts'
import { startProcess, type RedisServer } from './redis-server.ts'

export interface RedisClusterServers extends AsyncDisposable {
  readonly nodes: readonly RedisServer[]
}

/** Three masters that share the slots, each a separate process. */
export async function startRedisCluster(): Promise<RedisClusterServers> {
  const nodes = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const busPort = await freePort()
      const settings = ['--save', '', '--cluster-enabled', 'yes', '--cluster-port', String(busPort)]
      return startProcess(() => [...settings, '--cluster-node-timeout', '2000'])
    }),
  )
  const clients = await Promise.all(nodes.map(({ url }) => createClient({ url }).connect()))
  const ranges = [0, 5461, 10923, 16384]
  await Promise.all(
    clients.map(async (client, index) => {
      const slots = [ranges[index]!, ranges[index + 1]! - 1].map(String)
      await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', ...slots])
    }),
  )
  const busPorts = await Promise.all(
    clients.map(async (client) => (await client.configGet('cluster-port'))['cluster-port']!),
  )
  for (const [index, { port }] of nodes.entries()) {
    await clients[0]!.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(port), busPorts[index]!])
  }
  // No event reports when the nodes know each other.
  const agreed = async (client: (typeof clients)[number]) => {
    const info = await client.clusterInfo()
    return (
      /cluster_state:ok/.test(info) &&
      /cluster_slots_ok:16384/.test(info) &&
      /cluster_known_nodes:3/.test(info)
    )
  }
  while (!(await Promise.all(clients.map(agreed))).every(Boolean)) await new Promise((r) => setTimeout(r, 20))
  for (const client of clients) client.destroy()
  return {
    nodes,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
    },
  }
}
