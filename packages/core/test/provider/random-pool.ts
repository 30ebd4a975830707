import { createTokenFetch, createTokenPool, createTokenProvider, type TokenProvider } from '@tokenwell/core'

/**
 * Uses many keys of a small pool concurrently: calls, requests whose token is rejected, deletes, and providers that are created
 * asynchronously. Each request must carry a token of its own key.
 *
 * @throws if a call fails
 */
export async function playPool(keys: number): Promise<{ readonly calls: number; readonly failures: number }> {
  let issued = 0
  let calls = 0
  const tokensOf = (key: number): TokenProvider =>
    createTokenProvider({
      cacheKey: async () => String(key),
      requestToken: async () => ({
        accessToken: `${key}.${++issued}`,
        tokenType: 'Bearer',
        expiresIn: 3600,
        scope: [],
      }),
    })
  const pool = createTokenPool(
    (key: number) => (key % 3 === 0 ? Promise.resolve(tokensOf(key)) : tokensOf(key)),
    { maxEntries: 100 },
  )
  const seen = new Set<string>()
  const apiFetch = createTokenFetch(({ url }) => pool.for(Number(url.pathname.slice(1))), {
    allowedOrigins: ['https://api.example.com'],
    fetch: async (input, init) => {
      const key = new URL(input as string).pathname.slice(1)
      const token = new Headers(init?.headers).get('authorization') ?? ''
      if (!token.startsWith(`Bearer ${key}.`)) throw new Error(`${key} got ${token}`)
      // Each seventh key rejects its first token.
      if (Number(key) % 7 > 0 || seen.has(key)) return new Response()
      seen.add(key)
      return new Response('', { status: 401 })
    },
  })
  async function use(key: number): Promise<void> {
    calls++
    const { status } = await apiFetch(`https://api.example.com/${key}`)
    if (status !== 200) throw new Error(`${key} was responded to with ${status}`)
    if (key % 5 === 0) pool.delete(key)
    const { value } = await pool.for(key).getToken()
    if (!value.startsWith(`${key}.`)) throw new Error(`${key} got ${value}`)
  }
  // 250 keys at a time: more than the pool keeps.
  for (let first = 0; first < keys; first += 250) {
    await Promise.all(Array.from({ length: 250 }, (_, index) => use(first + index)))
  }
  if (pool.size > 100) throw new Error(`the pool has ${pool.size} keys`)
  await pool.close()
  return { calls, failures: 0 }
}
