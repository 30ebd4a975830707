import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'

/** As its README recommends: `OAuth2Fetch` around the global fetch. */
export function badgatewayFetch(): (url: string, init: RequestInit) => Promise<Response> {
  const client = new OAuth2Client({
    server: 'https://auth.example.com/',
    clientId: 'id',
    clientSecret: 'secret',
  })
  const wrapper = new OAuth2Fetch({
    client,
    scheduleRefresh: false,
    getNewToken: () => ({
      accessToken: 'a'.repeat(32),
      refreshToken: null,
      expiresAt: Date.now() + 3_600_000,
    }),
  })
  return (url, init) => wrapper.fetch(url, init)
}
