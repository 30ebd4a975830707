import { clientCredentials, createTokenFetch } from '@tokenwell/core'

// Next caches the responses of such a page, also between builds.
export const revalidate = 3600

const { AUTH_URL, API_URL, CLIENT_SECRET, BUILD } = process.env
const tokens = clientCredentials({
  authUrl: AUTH_URL,
  clientId: 'short-lived',
  clientSecret: CLIENT_SECRET,
})
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL] })

export default async function Page() {
  const response = await apiFetch(`${API_URL}/v1/orders?build=${BUILD}`)
  if (!response.ok) throw new Error(`The API returned ${response.status}`)
  const [{ item }] = await response.json()
  return <p>{`build-${BUILD}: ${item}`}</p>
}
