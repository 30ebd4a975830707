// Many concurrent callers and no token yet. A new client for each round; the code is warm.
import { apiUrl, rejectTokens } from '../api.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenUrl, callers } = givenArgument() as {
  id: PeerId
  tokenUrl: string
  callers: number
}
const longestMs = 1_500
const mostRounds = 15
const peer = await loadPeer(id)
rejectTokens((authorization) => !authorization.includes('token-'))

async function runOnce(count: number): Promise<{ ms: number; failures: number }> {
  const { getToken, requestToken, callApi } = await peer.open({
    tokenUrl,
    clientId: 'id',
    clientSecret: 'secret',
  })
  // Peers that return no token are measured with API requests.
  const call = getToken ?? requestToken ?? (() => callApi!(apiUrl))
  const start = performance.now()
  const results = await Promise.allSettled(Array.from({ length: count }, () => call()))
  const ms = performance.now() - start
  return { ms, failures: results.filter(({ status }) => status === 'rejected').length }
}

await runOnce(1)
const found: { ms: number; failures: number }[] = []
const start = performance.now()
while (found.length < mostRounds && performance.now() - start < longestMs) found.push(await runOnce(callers))
report({
  rounds: found.length,
  ms: Math.min(...found.map(({ ms }) => ms)),
  failures: Math.max(...found.map(({ failures }) => failures)),
})
