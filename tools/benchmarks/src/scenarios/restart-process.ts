// A fleet of one peer restarts, in simulated time: the code of the peer is real, time and the token endpoint are not.
import { simulateTime } from '../method/simulated-time.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { LimitedEndpoint } from '../servers/limited-endpoint.ts'

export type Contender = 'patient' | 'tokenwell' | 'closure' | 'simple-oauth2'

const { id, instances, perSecond, minutes } = givenArgument() as {
  id: Contender
  instances: number
  perSecond: number
  minutes: number
}
const callers = 2
const callEveryMs = 10_000
const windowSeconds = 30

const time = simulateTime()
const endpoint = new LimitedEndpoint(perSecond, () => time.now())
globalThis.fetch = (_url, init) => endpoint.fetch(init!)

const { clientCredentials, createTokenProvider } = await import('@tokenwell/core')
const { closure, fetchToken } = await import('../peers/closure.ts')
const { ClientCredentials } = await import('simple-oauth2')

function open(clientId: string): () => Promise<unknown> {
  const options = { tokenEndpoint: 'https://auth.example.com/token', clientId, clientSecret: 'secret' }
  if (id === 'closure') return (closure.open(options) as { getToken: () => Promise<string> }).getToken
  if (id === 'simple-oauth2') {
    // Its own HTTP client does not run in simulated time.
    const client = new ClientCredentials({
      client: { id: clientId, secret: options.clientSecret },
      auth: { tokenHost: 'https://auth.example.com' },
    })
    let token: ReturnType<typeof client.createToken> | undefined
    return async () => {
      if (!token || token.expired(300)) token = client.createToken({ ...(await fetchToken(options)) })
      return token
    }
  }
  const hourMs = 3_600_000
  const tokens = createTokenProvider(
    clientCredentials(options),
    id === 'patient' ? { timeoutMs: hourMs, maxAttempts: Infinity } : {},
  )
  return () => tokens.getToken()
}

let withoutToken = instances
let lastServedMs = 0
let failures = 0

function run(instance: number): void {
  const getToken = open(`instance-${instance}`)
  let hasToken = false
  let pending = 0
  const update = (succeeded: boolean): void => {
    pending--
    if (!succeeded) failures++
    if (succeeded === hasToken) return
    hasToken = succeeded
    withoutToken += succeeded ? -1 : 1
    if (succeeded) lastServedMs = time.now()
  }
  const call = (): void => {
    // Callers that still wait are not joined by others.
    for (; pending < callers; pending++) {
      getToken().then(
        () => update(true),
        () => update(false),
      )
    }
    setTimeout(call, callEveryMs * (0.5 + Math.random()))
  }
  setTimeout(call, (instance / instances) * 1000)
}

for (let instance = 0; instance < instances; instance++) run(instance)
const queue: number[] = []
while (time.now() < minutes * 60_000) {
  queue.push(withoutToken)
  await time.passUntil(time.now() + windowSeconds * 1000)
}

const requests = Array.from(endpoint.requests, (each) => each ?? 0)
// Single seconds of a small fleet differ by chance.
const inWindow = (window: number): number =>
  requests.slice(window * windowSeconds, (window + 1) * windowSeconds).reduce((sum, each) => sum + each, 0)
const above = queue.filter((_, window) => inWindow(window) > 2 * perSecond * windowSeconds)
report({
  queue,
  failures,
  lastServedMs,
  requests: requests.reduce((sum, each) => sum + each, 0),
  busiest: Math.max(...requests),
  secondsAbove: above.length * windowSeconds,
  longestRetryAfterMs: endpoint.longestRetryAfterMs,
})
