// One size and one peer in a separate process, without another's garbage.
import { fastestWindow } from '../method/fastest-window.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenEndpoint, tenants } = givenArgument() as {
  id: PeerId
  tokenEndpoint: string
  tenants: number
}
const endpoint = { tokenEndpoint, clientId: 'id', clientSecret: 'secret' }
const peer = await loadPeer(id)

function heapBytes(): number {
  globalThis.gc!()
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}

type Tenant = { readonly getToken?: () => Promise<unknown> }
const clients = new Map<number, Tenant>()
const { forTenant } = await peer.open(endpoint)
const clientOf = async (tenant: number): Promise<Tenant> => {
  if (forTenant) return forTenant(tenant)
  const known = clients.get(tenant)
  if (known) return known
  const client = await peer.open({ ...endpoint, clientId: `tenant-${tenant}` })
  clients.set(tenant, client)
  return client
}

// What the first ones leave behind, mainly compiled code, is not counted.
for (let other = 1; other <= 100; other++) await clientOf(-other)
const before = heapBytes()
const start = process.cpuUsage()
for (let tenant = 0; tenant < tenants; tenant++) await clientOf(tenant)
const { user, system } = process.cpuUsage(start)
const bytes = heapBytes() - before

const inUse = Math.min(tenants, 100)
let warmNs: number | undefined
if ((await clientOf(0)).getToken) {
  for (let tenant = 0; tenant < inUse; tenant++) await (await clientOf(tenant)).getToken!()
  let next = 0
  const ask = forTenant
    ? () => forTenant(next++ % inUse).getToken()
    : () => clients.get(next++ % inUse)!.getToken!()
  ;[warmNs] = await fastestWindow([ask])
}
report({ bytes, createNs: ((user + system) * 1e3) / tenants, warmNs })
