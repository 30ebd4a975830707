import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'

// Next caches the responses of such a page, also between builds.
export const revalidate = 3600

const { PLATFORM, BUILD } = process.env
const tokens = createTokenProvider(
  clientCredentials({ authUrl: PLATFORM, clientId: 'c', clientSecret: 'secret' }),
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [new URL(PLATFORM).origin] })

export default async function Page() {
  const response = await apiFetch(`${PLATFORM}/api/build-${BUILD}`)
  if (!response.ok) throw new Error(`The API returned ${response.status}`)
  const { path } = await response.json()
  return <p>{path}</p>
}
