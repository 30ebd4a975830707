// Many tenants with separate credentials: one pool with one token for each.
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
} from '@tokenwell/core'

const { API_URL: baseUrl, AUTH_URL: authUrl } = process.env

// A real application reads these from its secret store.
const secrets: Record<string, string> = {
  acme: 'acme-secret',
  globex: 'globex-secret',
}

await using pool = createTokenPool(
  (tenant: string) =>
    clientCredentials({
      authUrl,
      clientId: tenant,
      // Called before each token request: a rotated secret needs no restart.
      clientSecret: () => secrets[tenant] ?? '',
    }),
  { maxEntries: 1_000 },
)

async function ordersOf(tenant: string): Promise<number> {
  const apiFetch = createTokenFetch(pool.for(tenant), { baseUrl })
  const response = await apiFetch('/v1/orders')
  return response.status
}

for (const tenant of ['acme', 'globex', 'acme'])
  console.log(tenant, await ordersOf(tenant))
console.log(`${pool.size} tenants, ${pool.size} tokens`)
