// Many callers at once, and no token yet. A fresh client for each round; the code is warm.
import { apiUrl, refuse } from '../api.ts'
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
refuse((authorization) => !authorization.includes('token-'))

async function rush(count: number): Promise<{ ms: number; failures: number }> {
  const { getToken, askToken, callApi } = await peer.open({
    tokenUrl,
    clientId: 'id',
    clientSecret: 'secret',
  })
  // Peers that hand out no token take part with requests to the API.
  const call = getToken ?? askToken ?? (() => callApi!(apiUrl))
  const start = performance.now()
  const results = await Promise.allSettled(Array.from({ length: count }, () => call()))
  const ms = performance.now() - start
  return { ms, failures: results.filter(({ status }) => status === 'rejected').length }
}

await rush(1)
const found: { ms: number; failures: number }[] = []
const start = performance.now()
while (found.length < mostRounds && performance.now() - start < longestMs) found.push(await rush(callers))
report({
  rounds: found.length,
  ms: Math.min(...found.map(({ ms }) => ms)),
  failures: Math.max(...found.map(({ failures }) => failures)),
})
