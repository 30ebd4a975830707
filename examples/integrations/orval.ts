// orval: the generated functions send their requests with apiFetch, which orval.config.mjs names.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))
const tokenFetch = createTokenFetch(tokens, { baseUrl: API_URL })

export async function apiFetch<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await tokenFetch(path, init)
  const { status, headers } = response
  return { status, headers, data: status === 204 ? undefined : await response.json() } as Result
}
