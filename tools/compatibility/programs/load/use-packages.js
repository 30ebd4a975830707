// One program for every loader: two concurrent calls and a revoked token, through fetch and axios.
const { AUTH_URL = '', API_URL = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env
const credentials = { authUrl: AUTH_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }
exports.credentials = credentials

exports.usePackages = async function usePackages({ core, axiosInterceptor, axios }) {
  const { clientCredentials, createTokenFetch, createTokenProvider, TokenError } = core
  const tokens = clientCredentials(credentials)
  let tokenRequests = 0
  tokens.subscribe(({ type }) => {
    if (type === 'token_received') tokenRequests++
  })
  const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL] })
  const instance = axios.create({ baseURL: API_URL })
  axiosInterceptor.attachTokens(instance, tokens)

  const [response, { data }] = await Promise.all([
    apiFetch(`${API_URL}/v1/orders`),
    instance.get('/v1/orders'),
  ])
  const first = await response.json()
  // Only this token: tests in other processes use the same platform.
  await fetch(`${AUTH_URL}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      token: tokens.peekToken().value,
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
    }),
  })
  const again = await instance.post('/v1/orders', { sent: true })
  const failure = await createTokenProvider({
    requestToken: () => Promise.reject(new TokenError({ kind: 'credentials', message: 'no' })),
  })
    .getToken()
    .catch((error) => error)
  await tokens.close()
  return {
    items: [...first, ...data].map(({ item }) => item),
    created: again.data,
    isTokenError: failure instanceof TokenError,
    tokenRequests,
  }
}

exports.expected = {
  items: ['tea', 'cups', 'tea', 'cups'],
  created: { id: 3, sent: true },
  isTokenError: true,
  tokenRequests: 2,
}
