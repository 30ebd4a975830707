// Many tenants, each with credentials of its own: one pool, one token for each.
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
} from '@tokenwell/core'

const authUrl = process.env.AUTH_URL!
const apiUrl = process.env.API_URL!

// In earnest these come from where your secrets are kept.
const secrets: Record<string, string> = {
  acme: 'acme-secret',
  globex: 'globex-secret',
}

await using pool = createTokenPool(
  (tenant: string) =>
    clientCredentials({
      authUrl,
      clientId: tenant,
      // Asked before each token request: a rotated secret is taken up without a restart.
      clientSecret: () => secrets[tenant] ?? '',
    }),
  { maxEntries: 1_000 },
)

async function ordersOf(tenant: string): Promise<number> {
  // Ask the pool for each use: the least recently used tenants are forgotten.
  const apiFetch = createTokenFetch(pool.for(tenant), { allowedOrigins: [apiUrl] })
  const response = await apiFetch(`${apiUrl}/v1/orders`)
  return response.status
}

for (const tenant of ['acme', 'globex', 'acme'])
  console.log(tenant, await ordersOf(tenant))
console.log(`${pool.size} tenants, ${pool.size} tokens`)
