// A steady load on one client while the API revokes its token three times.
import { respondWithin, apiUrl, rejectTokens } from '../api.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenEndpoint, seconds, revocations } = givenArgument() as {
  id: PeerId
  tokenEndpoint: string
  seconds: number
  revocations: number
}
const peer = await loadPeer(id)
const { callApi } = await peer.open({ tokenEndpoint, clientId: 'id', clientSecret: 'secret' })
// Tokens are numbered in the order of issue: those issued before a revocation are rejected after it.
let newest = 0
let oldestGood = 0
rejectTokens((authorization) => {
  const number = Number(/token-(\d+)-/.exec(authorization)?.[1] ?? 0)
  newest = Math.max(newest, number)
  return number === 0 || number < oldestGood
})
await callApi!(apiUrl)
respondWithin(40)

let calls = 0
let failures = 0
async function call(): Promise<void> {
  calls++
  const status = await callApi!(apiUrl).catch(() => 0)
  if (status !== 200) failures++
}

const start = performance.now()
const open: Promise<void>[] = []
let revoked = 0
while (performance.now() - start < seconds * 1000) {
  const due = Math.floor(((performance.now() - start) / 1000 / seconds) * (revocations + 1))
  if (due > revoked) {
    revoked++
    oldestGood = newest + 1
  }
  open.push(call(), call(), call(), call())
  await new Promise((resolve) => setTimeout(resolve, 2))
}
await Promise.all(open)
report({ calls, failures, revocations: revoked })
