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
