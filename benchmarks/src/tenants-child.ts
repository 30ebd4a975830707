import { clientCredentials, createTokenPool } from '@tokenwell/core'

const entries = Number(process.argv[2])
const body = JSON.stringify({ access_token: 'a'.repeat(32), token_type: 'Bearer', expires_in: 3600 })
const answer = (): Promise<Response> => Promise.resolve(new Response(body))
const heap = (): number => {
  globalThis.gc!()
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}

const pool = createTokenPool(
  (tenant: number) =>
    clientCredentials({
      authUrl: 'https://auth.example.com',
      clientId: `client-${tenant}`,
      clientSecret: `secret-${tenant}`,
      fetch: answer,
    }),
  { maxEntries: entries },
)
const before = heap()
const start = performance.now()
for (let tenant = 0; tenant < entries; tenant++) pool.for(tenant)
const createNs = ((performance.now() - start) * 1e6) / entries
const bytes = heap() - before

const asked = Math.min(entries, 100)
for (let tenant = 0; tenant < asked; tenant++) await pool.for(tenant).getToken()
const rounds = 1_000_000
const warmStart = performance.now()
for (let round = 0; round < rounds; round++) await pool.for(round % asked).getToken()
const warmNs = ((performance.now() - warmStart) * 1e6) / rounds
process.stdout.write(JSON.stringify({ bytes, createNs, warmNs }))
