// orval: the generated functions send their requests with apiFetch, which orval.config.mjs names.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export async function apiFetch<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await tokenFetch(new URL(path, API_URL), init)
  const { status, headers } = response
  return { status, headers, data: await response.json() } as Result
}
