const { clientCredentials, createTokenFetch } = require('@tokenwell/core')
const { createTokenVerifier } = require('@tokenwell/resource-server')

const authUrl = 'https://auth.example.com'
const apiUrl = 'https://api.example.com'
const json = (body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

/** A mock that treats every address as a string, and what it was called with. */
function mockFetch(respond) {
  const urls = []
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    const path = url.replace(/^https:\/\/\w+\.example\.com/, '')
    urls.push(path.split('?')[0])
    return respond(path, init)
  })
  return urls
}
afterEach(() => jest.restoreAllMocks())

test('a request for a token and a call of the API', async () => {
  const urls = mockFetch((path) =>
    path.startsWith('/oauth/')
      ? json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3600 })
      : json(['tea']),
  )
  const tokens = clientCredentials({ authUrl, clientId: 'billing', clientSecret: 'secret' })
  const response = await createTokenFetch(tokens, { baseUrl: apiUrl })('/orders')
  expect(await response.json()).toEqual(['tea'])
  expect(urls).toEqual(['/oauth/client_credential/accesstoken', '/orders'])
})

test('introspection', async () => {
  const urls = mockFetch(() => json({ active: true, client_id: 'billing' }))
  const verifier = createTokenVerifier({
    introspection: { authUrl, clientId: 'api', clientSecret: 'secret' },
  })
  expect(await verifier.verify('Bearer token-1')).toMatchObject({ clientId: 'billing' })
  expect(urls).toEqual(['/oauth/introspect'])
})
