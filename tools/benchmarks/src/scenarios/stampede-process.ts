// Many concurrent callers and no token yet. A new client for each round; the code is warm.
import { apiUrl, rejectTokens } from '../api.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'

const { id, tokenEndpoint, callers } = givenArgument() as {
  id: PeerId
  tokenEndpoint: string
  callers: number
}
const longestMs = 1_500
const mostRounds = 15
/** Of two kinds of calls that are compared: in the first rounds, the one pays for compiling the other and for a growing heap. */
const fewestComparisons = 12
const peer = await loadPeer(id)

async function runOnce(count: number): Promise<Round> {
  rejectTokens((authorization) => !authorization.includes('token-'))
  const { getToken, requestToken, callApi } = await peer.open({
    tokenEndpoint,
    clientId: 'id',
    clientSecret: 'secret',
  })
  // Peers that return no token are measured with API requests.
  const call = getToken ?? requestToken ?? (() => callApi!(apiUrl))
  const calls = await callTogether(call, count)
  const callPlainly = (getToken ?? requestToken) ? undefined : peer.openPlain?.()
  if (callPlainly === undefined) return calls
  rejectTokens(() => false)
  const { ms: plainMs } = await callTogether(() => callPlainly(apiUrl), count)
  return { ...calls, plainMs }
}

async function callTogether(call: () => Promise<unknown>, count: number): Promise<Round> {
  const start = performance.now()
  const results = await Promise.allSettled(Array.from({ length: count }, () => call()))
  const ms = performance.now() - start
  return { ms, failures: results.filter(({ status }) => status === 'rejected').length }
}

interface Round {
  readonly ms: number
  readonly failures: number
  /** As many calls of the same HTTP client without a token. */
  readonly plainMs?: number
}

await runOnce(1)
const found: Round[] = []
const start = performance.now()
const isEnough = (): boolean => {
  if (found.length >= mostRounds) return true
  const fewest = found[0]?.plainMs === undefined ? 1 : fewestComparisons
  return found.length >= fewest && performance.now() - start >= longestMs
}
while (!isEnough()) found.push(await runOnce(callers))
report({
  rounds: found.length,
  ms: Math.min(...found.map(({ ms }) => ms)),
  plainMs: Math.min(...found.map(({ plainMs = Infinity }) => plainMs)),
  failures: Math.max(...found.map(({ failures }) => failures)),
})
