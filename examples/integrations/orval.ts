// orval: the generated functions send their requests with apiFetch, which orval.config.mjs names.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'

const API_URL = process.env.API_URL!

const tokens = clientCredentials(credentialsFrom(process.env))
const tokenFetch = createTokenFetch(tokens, { baseUrl: API_URL })

export async function apiFetch<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await tokenFetch(path, init)
  const { status, headers } = response
  const body = await response.text() // empty after a 204
  return { status, headers, data: body ? JSON.parse(body) : undefined } as Result
}
