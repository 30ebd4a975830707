import { clientCredentials, createTokenFetch } from '@tokenwell/core'

export const dynamic = 'force-dynamic'

// `next build` loads this module without the environment of the running server.
const tokens = clientCredentials({
  authUrl: () => process.env.RUNTIME_AUTH_URL,
  clientId: 'short-lived',
  clientSecret: () => process.env.RUNTIME_CLIENT_SECRET,
})
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [(url) => url.hostname === '127.0.0.1'] })

export async function GET() {
  const response = await apiFetch(`${process.env.RUNTIME_API_URL}/v1/orders`)
  return new Response(await response.text(), { status: response.status })
}
