// What a runtime must be able to do with the published file. Plain JavaScript: every runtime loads it as it is.

function expect(condition, what) {
  if (!condition) throw new Error(`failed: ${what}`)
}

async function failureOf(promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('failed: nothing was thrown')
}

/** @param core the published file's exports; @param origin address of the smoke server */
export async function smoke(core, origin) {
  const inBrowser = typeof document === 'object'
  const credentials = { clientId: 'client', clientSecret: 'secret:+ %', dangerouslyAllowBrowser: inBrowser }
  const provider = (options, providerOptions) =>
    core.clientCredentials({ ...credentials, ...options, ...providerOptions })
  const stats = async () => (await fetch(`${origin}/stats`)).json()
  const done = []
  const check = async (name, body) => {
    await body()
    done.push(name)
  }

  await check('browsers are warned', () => {
    const make = () =>
      core.clientCredentials({ ...credentials, authUrl: origin, dangerouslyAllowBrowser: false })
    let thrown
    try {
      make()
    } catch (error) {
      thrown = error
    }
    expect((thrown?.kind === 'configuration') === inBrowser, 'warning')
  })

  await check('one request for 100 callers', async () => {
    const tokens = provider({ authUrl: origin })
    const before = (await stats()).tokenRequests
    const all = await Promise.all(Array.from({ length: 100 }, () => tokens.getToken()))
    expect(new Set(all.map(({ value }) => value)).size === 1, 'one token')
    expect((await stats()).tokenRequests === before + 1, 'one request')
    expect(tokens.peekToken() === all[0], 'peek')
    const shown = `${JSON.stringify(tokens)} ${tokens} ${JSON.stringify(all[0].response)}`
    expect(!shown.includes(all[0].value) && !shown.includes('secret'), 'redaction')
    await tokens.close()
  })

  await check('basic authentication and scope', async () => {
    const tokens = provider({
      tokenEndpoint: `${origin}/token`,
      clientAuthentication: 'client_secret_basic',
      scope: ['a', 'b'],
    })
    expect((await tokens.getToken()).response.scope.join() === 'a,b', 'scope')
  })

  await check('a rejected secret', async () => {
    const error = await failureOf(provider({ authUrl: origin, clientSecret: 'wrong' }).getToken())
    expect(error instanceof core.TokenError && error.kind === 'credentials', 'kind')
  })

  await check('aborts', async () => {
    const tokens = provider({ authUrl: `${origin}/slow` })
    const controller = new AbortController()
    const reason = new Error('own reason')
    const aborted = failureOf(tokens.getToken({ signal: controller.signal }))
    const other = tokens.getToken()
    controller.abort(reason)
    expect((await aborted) === reason, 'reason')
    expect((await other).value.startsWith('token-'), 'others')
  })

  await check('time limits', async () => {
    const error = await failureOf(provider({ authUrl: `${origin}/never` }, { timeoutMs: 200 }).getToken())
    expect(error.kind === 'unavailable', 'kind')
  })

  await check('no redirect with the secret', async () => {
    await failureOf(provider({ tokenEndpoint: `${origin}/redirect` }).getToken())
    expect((await stats()).redirected === 0, 'followed')
  })

  await check('no more than 1 MiB', async () => {
    const error = await failureOf(provider({ tokenEndpoint: `${origin}/large` }).getToken())
    expect(error.kind === 'malformed' && error.message.includes('1 MiB'), 'kind')
  })

  await check('a fetch that replaces a rejected token', async () => {
    const tokens = provider({ authUrl: origin })
    const tokenFetch = core.createTokenFetch(tokens, { allowedOrigins: [origin] })
    expect((await tokenFetch(`${origin}/api`)).status === 200, 'first')
    await fetch(`${origin}/revoke`, { method: 'POST' })
    const again = await tokenFetch(`${origin}/api`, { method: 'POST', body: 'body' })
    expect(again.status === 200 && (await again.text()) === 'body', 'second')
    await fetch(`${origin}/revoke`, { method: 'POST' })
    const request = new Request(`${origin}/api`, { method: 'POST', body: 'body' })
    const third = await tokenFetch(request)
    expect(third.status === 200 && (await third.text()) === 'body', 'the body of a Request')
  })

  await check('a shared store', async () => {
    const store = core.createMemoryTokenStore()
    const [one, two] = [1, 2].map(() => provider({ authUrl: origin }, { store }))
    expect((await one.getToken()).value === (await two.getToken()).value, 'shared')
  })

  await check('a backend', async () => {
    const url = inBrowser ? '/backend' : `${origin}/backend`
    const tokens = core.backendTokens({ url })
    const token = await tokens.getToken()
    expect(core.tokenResponseBody(token).expires_in <= 60, 'lifetime')
  })

  await check('a pool', async () => {
    const pool = core.createTokenPool((tenant) =>
      core.clientCredentials({ ...credentials, authUrl: `${origin}/${tenant}` }),
    )
    await Promise.all(['slow', ''].map((tenant) => pool.for(tenant).getToken()))
    expect(pool.size === 2, 'size')
    await pool.close()
  })
  return done
}
