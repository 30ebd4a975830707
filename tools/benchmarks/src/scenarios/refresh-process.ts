// A steady load on one client while its token is refreshed several times.
import { apiUrl, rejectTokens } from '../api.ts'
import { speedUpTime } from '../method/speed-up-time.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { percentile } from '../method/figures.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenEndpoint, speed, seconds, lifetimeSeconds } = givenArgument() as {
  id: PeerId
  tokenEndpoint: string
  speed: number
  seconds: number
  lifetimeSeconds: number
}
const realNow = performance.now.bind(performance)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const peer = await loadPeer(id)
const { getToken, callApi } = await peer.open({ tokenEndpoint, clientId: 'id', clientSecret: 'secret' })
const call = callApi ? () => callApi(apiUrl) : getToken!
// The API counts the age of a token from its first request.
const seen = new Map<string, number>()
rejectTokens((authorization) => {
  const first = seen.get(authorization) ?? Date.now()
  seen.set(authorization, first)
  return !authorization.includes('token-') || Date.now() - first > lifetimeSeconds * 1000
})
for (let warmUp = 0; warmUp < 500; warmUp++) await call()
speedUpTime(speed)

const durations: number[] = []
let blocked = 0
let failures = 0
async function timed(): Promise<void> {
  const start = realNow()
  await call().catch(() => failures++)
  durations.push(realNow() - start)
}

const start = realNow()
const open: Promise<void>[] = []
while (realNow() - start < seconds * 1000) {
  const before = durations.length
  const batch = [timed(), timed(), timed(), timed()]
  open.push(...batch)
  // The API responds immediately: a call that is pending some turns of the event loop later waits for a token.
  for (let turns = 0; turns < 4; turns++) await turn()
  blocked += Math.max(0, batch.length - (durations.length - before))
  await new Promise((resolve) => setTimeout(resolve, 2))
}
await Promise.all(open)
report({
  calls: durations.length,
  blocked,
  failures,
  p50Ms: percentile(durations, 50),
  p99Ms: percentile(durations, 99),
  maxMs: Math.max(...durations),
})
