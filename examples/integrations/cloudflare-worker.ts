// Cloudflare Worker: one provider for the isolate. Background refreshes continue after the response.
import { waitUntil } from 'cloudflare:workers'
import { clientCredentials, createTokenFetch, credentialsFrom, type TokenFetch } from '@tokenwell/core'

interface Env {
  readonly AUTH_URL: string
  readonly API_URL: string
  readonly CLIENT_ID: string
  readonly CLIENT_SECRET: string
}

let apiFetch: TokenFetch | undefined

function createApiFetch(env: Env): TokenFetch {
  const tokens = clientCredentials({ ...credentialsFrom(env), waitUntil })
  return createTokenFetch(tokens, { baseUrl: env.API_URL })
}

// oxlint-disable-next-line import/no-default-export -- Workers require it
export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    apiFetch ??= createApiFetch(env)
    return apiFetch('/v1/orders')
  },
}
