// AWS Lambda: the provider outlives an invocation, so warm starts reuse the token.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import type { APIGatewayProxyResultV2 } from 'aws-lambda'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

// Lambda freezes the process when the handler returns: background refreshes are awaited before that.
const background = new Set<Promise<unknown>>()
const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
  { waitUntil: (work) => void background.add(work) },
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export async function handler(): Promise<APIGatewayProxyResultV2> {
  try {
    const upstream = await apiFetch(`${API_URL}/v1/orders`)
    return { statusCode: upstream.status, body: await upstream.text() }
  } finally {
    await Promise.allSettled(background)
    background.clear()
  }
}
