// Next.js: app/api/orders/route.ts. Put the tokens in a module with `import 'server-only'` to share it.
import { clientCredentials, createTokenFetch } from '@tokenwell/core'

// Functions are called on first use: `next build` loads this module without the environment of the server.
const tokens = clientCredentials({
  authUrl: () => process.env['AUTH_URL'],
  clientId: () => process.env['CLIENT_ID'],
  clientSecret: () => process.env['CLIENT_SECRET'],
})
const apiFetch = createTokenFetch(tokens, {
  allowedOrigins: [({ origin }) => origin === new URL(process.env['API_URL']!).origin],
})

export async function GET(): Promise<Response> {
  // Next.js may cache the response unless told otherwise.
  const upstream = await apiFetch(`${process.env['API_URL']}/v1/orders`, { cache: 'no-store' })
  return Response.json(await upstream.json(), { status: upstream.status })
}
