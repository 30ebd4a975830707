// One program for every loader: two concurrent calls and a revoked token, through fetch and axios.
exports.usePackages = async function usePackages({ core, axiosInterceptor, axios }, platform) {
  const { clientCredentials, createTokenFetch, createTokenProvider, TokenError } = core
  const tokens = createTokenProvider(
    clientCredentials({ authUrl: platform, clientId: 'c', clientSecret: 'secret' }),
  )
  const apiFetch = createTokenFetch(tokens, { allowedOrigins: [new URL(platform).origin] })
  const instance = axios.create({ baseURL: `${platform}/api` })
  axiosInterceptor.attachTokens(instance, tokens)

  const [response, { data }] = await Promise.all([apiFetch(`${platform}/api/a`), instance.get('/b')])
  const first = await response.json()
  await fetch(`${platform}/revoke`, { method: 'POST' })
  const again = await instance.post('/c', { sent: true })
  const failure = await createTokenProvider({
    requestToken: () => Promise.reject(new TokenError({ kind: 'credentials', message: 'no' })),
  })
    .getToken()
    .catch((error) => error)
  await tokens.close()
  const counts = await (await fetch(`${platform}/counts`)).json()
  return {
    paths: [first.path, data.path, again.data.path],
    body: again.data.body,
    isTokenError: failure instanceof TokenError,
    counts,
  }
}

exports.expected = {
  paths: ['/api/a', '/api/b', '/api/c'],
  body: '{"sent":true}',
  isTokenError: true,
  counts: { tokenRequests: 2, accepted: 3, rejected: 1 },
}
