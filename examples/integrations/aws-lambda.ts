// AWS Lambda: the provider outlives an invocation, so warm starts reuse the token.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import type { APIGatewayProxyResultV2 } from 'aws-lambda'

// Lambda freezes the process when the handler returns: background refreshes are awaited before that.
const background = new Set<Promise<unknown>>()
const tokens = clientCredentials({
  ...credentialsFrom(process.env),
  waitUntil: (work) => void background.add(work),
})
const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })

export async function handler(): Promise<APIGatewayProxyResultV2> {
  try {
    const upstream = await apiFetch('/v1/orders')
    return { statusCode: upstream.status, body: await upstream.text() }
  } finally {
    await Promise.allSettled(background)
    background.clear()
  }
}
