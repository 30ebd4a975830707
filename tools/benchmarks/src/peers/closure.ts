import type { Endpoint, Peer } from './peer.ts'

/** The baseline: what a team writes by hand, without background refresh, rejections or a check of the host. */
export const closure: Peer = {
  name: 'hand-written closure',
  packages: [],
  httpClient: 'fetch',
  imports: '',
  openPlain: () => (url) => fetch(url),
  open(endpoint) {
    const getToken = keepToken(() => fetchToken(endpoint))
    return {
      getToken,
      async callApi(url) {
        const response = await fetch(url, { headers: { Authorization: `Bearer ${await getToken()}` } })
        return response.status
      },
    }
  },
}

interface TokenResponse {
  readonly access_token: string
  readonly expires_in: number
}

function keepToken(ask: () => Promise<TokenResponse>): () => Promise<string> {
  let token: { value: string; expiresAtMs: number } | undefined
  let pending: Promise<string> | undefined
  const refresh = async (): Promise<string> => {
    try {
      const { access_token, expires_in } = await ask()
      token = { value: access_token, expiresAtMs: Date.now() + (expires_in - 10) * 1000 }
      return access_token
    } finally {
      pending = undefined
    }
  }
  return async () => (token && Date.now() < token.expiresAtMs ? token.value : (pending ??= refresh()))
}

/** A token request with nothing but `fetch`. */
export async function fetchToken({
  tokenEndpoint,
  clientId,
  clientSecret,
}: Endpoint): Promise<TokenResponse> {
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  })
  if (!response.ok) throw new Error(`The token endpoint returned ${response.status}`)
  return (await response.json()) as TokenResponse
}
