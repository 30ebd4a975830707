import { expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { noResponse, startTokenEndpoint } from '@tokenwell/internal-testing'
import { temporaryFolder, startTokenwell } from './tokenwell-process.ts'

const table = createSoakTable()

async function useEndpoint() {
  const endpoint = await startTokenEndpoint()
  onTestFinished(() => endpoint.close())
  const start = (state: string) =>
    startTokenwell(['token'], {
      XDG_STATE_HOME: state,
      TOKEN_ENDPOINT: `${endpoint.origin}/token`,
      CLIENT_ID: 'a-client',
      CLIENT_SECRET: 'a-secret',
    })
  return { endpoint, start }
}

it('causes one token request for 50 processes that start together', async () => {
  const { endpoint, start } = await useEndpoint()
  const state = temporaryFolder({})
  const processes = Array.from({ length: 50 }, () => start(state))
  await table.measure('processes that start together', async () => {
    const ended = await Promise.all(processes.map(({ ended }) => ended))
    expect(ended.map(({ code }) => code)).toStrictEqual(processes.map(() => 0))
    return { calls: processes.length, failures: 0, tokenRequests: endpoint.requests.length }
  })
  expect(processes.map(({ written }) => written.stderr).join('')).toBe('')
  expect(new Set(processes.map(({ written }) => written.stdout))).toStrictEqual(
    new Set([`${endpoint.issued[0]}\n`]),
  )
  expect(endpoint.requests).toHaveLength(1)
})

it('waits at most the time of a lease when its holder is killed, in 20 rounds', async () => {
  const { endpoint, start } = await useEndpoint()
  const issue = endpoint.respond
  const waits: number[] = []
  const killHolder = async (): Promise<void> => {
    const state = temporaryFolder({})
    const [sent, issued] = [endpoint.requests.length, endpoint.issued.length]
    endpoint.respond = () => noResponse
    const arrived = endpoint.nextRequest()
    const holder = start(state)
    await arrived
    endpoint.respond = issue
    const others = Array.from({ length: 3 }, () => start(state))
    holder.child.kill('SIGKILL')
    const killed = performance.now()
    const ended = await Promise.all(others.map(({ ended }) => ended))
    waits.push(Math.round(performance.now() - killed))
    expect(ended.map(({ code }) => code)).toStrictEqual([0, 0, 0])
    expect(others.map(({ written }) => written.stderr).join('')).toBe('')
    const tokens = new Set(endpoint.issued.slice(issued).map((token) => `${token}\n`))
    expect(others.filter(({ written }) => !tokens.has(written.stdout))).toStrictEqual([])
    // When the lease expires, one process may take it while another one, which has waited as long, takes the fallback.
    expect(tokens.size).toBeLessThanOrEqual(2)
    expect(endpoint.requests).toHaveLength(sent + 1 + tokens.size)
  }
  await table.measure('20 killed holders, each with 3 waiting processes', async () => {
    for (let round = 0; round < 20; round++) await killHolder()
    const figures = `${Math.min(...waits)} ms at least`
    return { calls: 60, failures: 0, worstMs: Math.max(...waits), figures }
  })
  // A lease lasts 5 s; the rest is for starting the processes.
  expect(Math.max(...waits)).toBeLessThan(8_000)
})
