// One process of a fleet: prepares, and starts its callers when its parent says so.
import { loadPeer, type PeerId } from '../peers/peers.ts'
import type { Endpoint } from '../peers/peer.ts'

const { id, callers, warm, ...endpoint } = JSON.parse(process.argv[2] ?? '{}') as Endpoint & {
  id: PeerId
  callers: number
  warm?: boolean
}
const peer = await loadPeer(id)
// Otherwise most of the time is that of loading and compiling code.
if (warm) await (await peer.open({ ...endpoint, clientId: 'warm-up' })).getToken!()
const { getToken } = await peer.open(endpoint)

async function letGo(): Promise<void> {
  const start = performance.now()
  const tokens = await Promise.all(Array.from({ length: callers }, () => getToken!()))
  process.send!({ ms: performance.now() - start, tokens: [...new Set(tokens)] })
}

process.once('message', () => void letGo())
process.once('disconnect', () => process.exit())
process.send!({})
