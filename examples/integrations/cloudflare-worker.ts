// Cloudflare Worker: one provider for the isolate. Background refreshes continue after the response.
import { waitUntil } from 'cloudflare:workers'
import { clientCredentials, createTokenFetch, createTokenProvider, type TokenFetch } from '@tokenwell/core'

interface Env {
  readonly AUTH_URL: string
  readonly API_URL: string
  readonly CLIENT_ID: string
  readonly CLIENT_SECRET: string
}

let apiFetch: TokenFetch | undefined

function createApiFetch({ AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET }: Env): TokenFetch {
  const tokens = createTokenProvider(
    clientCredentials({ authUrl: AUTH_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }),
    { waitUntil },
  )
  return createTokenFetch(tokens, { allowedOrigins: [API_URL] })
}

// oxlint-disable-next-line import/no-default-export -- Workers require it
export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    apiFetch ??= createApiFetch(env)
    return apiFetch(`${env.API_URL}/v1/orders`)
  },
}
