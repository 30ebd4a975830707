import { createTokenFetch, createTokenProvider, type TokenSource } from '@tokenwell/core'
import { do_not_optimize, measure } from 'mitata'
import type { Table } from './table.ts'

const source: TokenSource = {
  cacheKey: () => Promise.resolve('benchmark'),
  requestToken: () =>
    Promise.resolve({ accessToken: 'a'.repeat(32), tokenType: 'Bearer', expiresIn: 3600, scope: [] }),
}

/** What a team writes by hand: a variable and a comparison. */
function closureCache() {
  const token = { value: 'a'.repeat(32), expiresAtMs: Date.now() + 3_600_000 }
  const peek = (): string | undefined => (Date.now() < token.expiresAtMs ? token.value : undefined)
  // eslint-disable-next-line typescript/require-await
  return { peek, get: async () => peek() }
}

async function nanoseconds(work: () => unknown): Promise<number> {
  return (await measure(work, { min_cpu_time: 1e9 })).p50
}

export async function warmPath(): Promise<Table> {
  const tokens = createTokenProvider(source)
  await tokens.getToken()
  const closure = closureCache()
  const response = new Response('ok')
  const bare = (_input: unknown, _init?: unknown): Promise<Response> => Promise.resolve(response)
  const url = 'https://api.example.com/v1/orders'
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'], fetch: bare })
  const init = { headers: { accept: 'application/json' } }

  const works = {
    peek: [() => do_not_optimize(closure.peek()), () => do_not_optimize(tokens.peekToken())],
    get: [
      async () => do_not_optimize(await closure.get()),
      async () => do_not_optimize(await tokens.getToken()),
    ],
    fetch: [
      async () => do_not_optimize(await bare(url, init)),
      async () => do_not_optimize(await tokenFetch(url, init)),
    ],
  } as const
  const rows: string[][] = []
  for (const [name, [floor, ours]] of Object.entries(works)) {
    const floorNs = await nanoseconds(floor)
    const oursNs = await nanoseconds(ours)
    const ratio =
      name === 'fetch'
        ? `adds ${((oursNs - floorNs) / 1000).toFixed(2)} µs`
        : `${(oursNs / floorNs).toFixed(2)} ×`
    rows.push([name, ratio, `${floorNs.toFixed(0)} ns`, `${oursNs.toFixed(0)} ns`])
  }
  return {
    title: 'Warm path',
    note: 'A token is at hand. The floor is a hand-written closure cache (peek, get) and a fake fetch (fetch).',
    columns: ['call', 'ours to the floor', 'floor', 'ours'],
    rows,
  }
}
