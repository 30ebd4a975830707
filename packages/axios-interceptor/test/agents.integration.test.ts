import { attachTokens, withoutToken } from '@tokenwell/axios-interceptor'
import { expectNoSecrets, json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create, type AxiosError } from 'axios'
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { inspect } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const servers = useTestServers()

function apiWithAgent() {
  const httpAgent = new Agent({ keepAlive: true })
  onTestFinished(() => httpAgent.destroy())
  const api = create({ baseURL: servers.api.origin, httpAgent, httpsAgent: new TlsAgent() })
  attachTokens(api, servers.tokens)
  return { api, httpAgent }
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as AxiosError,
  )
const expectHidden = (value: unknown) => {
  expect(servers.endpoint.issued).not.toHaveLength(0)
  expectNoSecrets(value, servers.endpoint.issued)
}

it('shows no token of its own request through the agent', async () => {
  const { api } = apiWithAgent()
  expectHidden(await api.get('/'))
  servers.api.respond = () => json({}, 500)
  const error = await failureOf(api.get('/'))
  expectHidden(error)
  expectHidden(error.toJSON())
})

it('shows no token of another request that is in flight or waits for a socket', async () => {
  const { api, httpAgent } = apiWithAgent()
  httpAgent.maxSockets = 2
  servers.api.respond = ({ url }) => (url === '/pending' ? noResponse : json({}, 404))
  const controller = new AbortController()
  const failures = [failureOf(api.get('/pending', { signal: controller.signal }))]
  await servers.api.nextRequest()
  const error = await failureOf(api.get('/missing'))
  // Carries no token itself, but has the same agent.
  const untokened = await failureOf(api.get('/', withoutToken))
  for (const _ of [1, 2]) failures.push(failureOf(api.get('/pending', { signal: controller.signal })))
  await servers.api.nextRequest()
  expect(Object.keys(httpAgent.requests)).toHaveLength(1)
  for (const shown of [error, error.toJSON(), untokened, untokened.toJSON()]) expectHidden(shown)
  controller.abort()
  for (const failure of failures) expectHidden(await failure)
})

it('keeps the agent in the configuration of an error, so that the request can be repeated', async () => {
  const { api, httpAgent } = apiWithAgent()
  servers.api.respond = () => json({}, 503)
  const { config } = await failureOf(api.get('/'))
  expect(config?.httpAgent).toBe(httpAgent)
  servers.api.respond = () => json({})
  expect((await api.request(config!)).status).toBe(200)
})

it.each([
  ['httpAgent', (agent: object) => ({ httpAgent: agent })],
  ['httpsAgent', (agent: object) => ({ httpsAgent: agent })],
  ['dispatcher', (agent: object) => ({ fetchOptions: { dispatcher: agent } })],
])('shows a placeholder for an agent that is passed alone: %s', async (_name, withAgent) => {
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  const api = create({ baseURL: servers.api.origin })
  attachTokens(api, servers.tokens)
  await api.get('/', withAgent(agent))
  expect(inspect(agent)).toBe('[redacted]')
  expect(JSON.stringify({ agent })).toBe('{"agent":"[redacted]"}')
})

it('shows no token of a later request through the response to one without a token', async () => {
  const { api, httpAgent } = apiWithAgent()
  httpAgent.maxSockets = 1
  servers.api.respond = ({ url }) => (url === '/pending' ? noResponse : json({}))
  const first = await api.get('/', withoutToken)
  const controller = new AbortController()
  const failure = failureOf(api.get('/pending', { signal: controller.signal }))
  await servers.api.nextRequest()
  expect(first.request.socket).toBe(Object.values(httpAgent.sockets)[0]![0])
  expectHidden(first)
  controller.abort()
  await failure
})

it('hides a request of an adapter that is frozen, and keeps it accessible', async () => {
  const { api } = apiWithAgent()
  let request: object | undefined
  const response = await api.get('/', {
    adapter: async (config) => {
      request = Object.freeze({ headers: config.headers.toJSON() })
      return { data: '', status: 200, statusText: '', headers: {}, config, request }
    },
  })
  expect(response.request).toBe(request)
  expectHidden(response)
  expectHidden({ ...response })
})
