// What clients, verifiers and stores do most, as cases that run in every runtime: nothing here is of Node.
import { clientCredentials, createMemoryTokenStore, createTokenFetch, isTokenError } from '@tokenwell/core'
import { tokenStoreTests } from '@tokenwell/core/testing'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/fetch'

const audience = 'https://orders.example.com'

/** The cases by title. `env` is the environment of the platform; each case has clients of its own. */
export function casesOf(env) {
  const { AUTH_URL, API_URL, SANDBOX_URL, CLIENT_SECRET } = env
  const elsewhere = API_URL.replace('127.0.0.1', 'localhost')
  const credentials = (clientId) => ({ authUrl: AUTH_URL, clientId, clientSecret: CLIENT_SECRET })

  const control = (path, body) =>
    fetch(`${SANDBOX_URL}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((response) => response.text())
  const fault = (clientId, effect) => control('faults', { clientId, ...effect })
  const tokenRequests = async (clientId) =>
    (await (await fetch(`${SANDBOX_URL}/journal`)).json()).counts.client[clientId] ?? 0
  const revoke = async (clientId, { value: token }) => {
    const body = new URLSearchParams({ client_id: clientId, client_secret: CLIENT_SECRET, token })
    const { status } = await fetch(`${AUTH_URL}/oauth/revoke`, { method: 'POST', body })
    equal(status, 200)
  }

  /** A provider, its fetch wrapper, and what the case says of them. */
  const client = (title, run, options = {}) => [
    `client: ${title}`,
    async (clientId) => {
      const tokens = clientCredentials({ ...credentials(clientId), ...options })
      const api = createTokenFetch(tokens, { baseUrl: API_URL })
      try {
        await run({ tokens, api, clientId })
      } finally {
        await tokens.close()
      }
    },
  ]

  const verifying = (title, run) => [
    `verifier: ${title}`,
    async (clientId) => {
      const tokens = clientCredentials(credentials('jwt'))
      const reasons = []
      const verifier = createTokenVerifier({
        issuers: [{ issuer: AUTH_URL, audience, clients: ['jwt'] }],
        onEvent: ({ reason }) => void reasons.push(reason),
      })
      const guarded = requireToken(verifier, (_request, token) => Response.json(token), {
        scopes: ['orders:read'],
      })
      const call = (token) =>
        guarded(new Request(audience, { headers: token ? { authorization: `Bearer ${token}` } : {} }))
      try {
        await run({ tokens, call, reasons, clientId })
      } finally {
        await tokens.close()
      }
    },
  ]
  const flawed = (jwt) =>
    verifying(`rejects a JWT with the flaw ${jwt}`, async ({ tokens, call }) => {
      await fault('jwt', { jwt })
      const response = await call((await tokens.getToken()).value)
      equal(response.status, 401)
      includes(response.headers.get('www-authenticate'), 'invalid_token')
    })

  return Object.fromEntries([
    client('requests one token for 100 callers', async ({ tokens, clientId }) => {
      const all = await Promise.all(Array.from({ length: 100 }, () => tokens.getToken()))
      equal(new Set(all.map(({ value }) => value)).size, 1)
      equal(await tokenRequests(clientId), 1)
    }),
    client('attaches it to a request', async ({ api }) => {
      const response = await api('/v1/orders')
      equal(response.status, 200)
      equal((await response.json()).length, 2)
    }),
    client('sends a body with it', async ({ api }) => {
      const response = await api('/v1/orders', { method: 'POST', body: '{"item":"milk"}' })
      equal([response.status, (await response.json()).item], [201, 'milk'])
    }),
    client('sends a stream with it', async ({ api, tokens }) => {
      await tokens.getToken()
      const body = new Response('{"item":"water"}').body
      const response = await api('/v1/orders', { method: 'POST', body, duplex: 'half' })
      equal([response.status, (await response.json()).item], [201, 'water'])
    }),
    client('replaces a revoked token, and sends the body again', async ({ api, tokens, clientId }) => {
      await revoke(clientId, await tokens.getToken())
      const response = await api('/v1/orders', { method: 'POST', body: '{"item":"tea"}' })
      equal([response.status, (await response.json()).item], [201, 'tea'])
    }),
    client('replaces a rejected token once for 50 requests', async ({ api, tokens, clientId }) => {
      await revoke(clientId, await tokens.getToken())
      const before = await tokenRequests(clientId)
      const all = await Promise.all(Array.from({ length: 50 }, () => api('/v1/orders')))
      equal([...new Set(all.map(({ status }) => status))], [200])
      await Promise.all(all.map((response) => response.text()))
      equal((await tokenRequests(clientId)) - before, 1)
    }),
    client('sends it to no other origin', async ({ api }) => {
      equal((await (await api(`${elsewhere}/echo`)).json()).authorization, undefined)
    }),
    client('follows a redirect within the origin with it', async ({ api, tokens }) => {
      const { authorization } = await (await api('/redirect')).json()
      equal(authorization, `Bearer ${(await tokens.getToken()).value}`)
    }),
    client('follows a redirect to another origin without it', async ({ api }) => {
      equal((await (await api('/redirect-elsewhere')).json()).authorization, undefined)
    }),
    client('leaves a header of the caller', async ({ api }) => {
      const { authorization } = await (
        await api('/echo', { headers: { authorization: 'Basic eA==' } })
      ).json()
      equal(authorization, 'Basic eA==')
    }),
    client('requests again after a 503', async ({ tokens, clientId }) => {
      await fault(clientId, { status: 503, body: '' })
      equal(typeof (await tokens.getToken()).value, 'string')
    }),
    client('requests again after a closed connection', async ({ tokens, clientId }) => {
      await fault(clientId, { drop: true })
      equal(typeof (await tokens.getToken()).value, 'string')
    }),
    client('waits as Retry-After says', async ({ tokens, clientId }) => {
      await fault(clientId, { status: 429, headers: { 'retry-after': '1' }, body: '' })
      const began = performance.now()
      await tokens.getToken()
      equal(performance.now() - began > 900, true)
    }),
    client(
      'reports invalid credentials without the secret',
      async ({ tokens }) => {
        const error = await rejection(tokens.getToken())
        equal([isTokenError(error), error.kind], [true, 'credentials'])
        equal(`${error.stack}${JSON.stringify(error)}`.includes('not-the-secret'), false)
      },
      { clientSecret: 'not-the-secret' },
    ),
    client(
      'reports an endpoint that does not respond',
      async ({ tokens, clientId }) => {
        await fault(clientId, { latencyMs: 20_000, requests: 3 })
        equal((await rejection(tokens.getToken())).kind, 'unavailable')
      },
      { timeoutMs: 500 },
    ),
    client('aborts one caller, and serves the others', async ({ tokens, clientId }) => {
      await fault(clientId, { latencyMs: 500 })
      const controller = new AbortController()
      const aborted = rejection(tokens.getToken({ signal: controller.signal }))
      const other = tokens.getToken()
      controller.abort()
      equal((await aborted).name, 'AbortError')
      equal(typeof (await other).value, 'string')
    }),
    client('gets another token by forceRefresh', async ({ tokens }) => {
      const { value } = await tokens.getToken()
      equal((await tokens.getToken({ forceRefresh: true })).value === value, false)
    }),
    client('revokes its token', async ({ tokens, api }) => {
      const { value } = await tokens.getToken()
      await tokens.revoke()
      const response = await fetch(`${API_URL}/v1/orders`, { headers: { authorization: `Bearer ${value}` } })
      equal(response.status, 401)
      equal((await (await api('/v1/orders')).json()).length, 2)
    }),
    client('shows no token when it is logged', async ({ tokens }) => {
      const token = await tokens.getToken()
      equal(`${JSON.stringify(token)}${String(token)}`.includes(token.value), false)
    }),

    verifying('accepts a JWT, and gives its claims', async ({ tokens, call }) => {
      const response = await call((await tokens.getToken()).value)
      equal([response.status, (await response.json()).clientId], [200, 'jwt'])
    }),
    ...['expired', 'wrong_audience', 'wrong_issuer', 'wrong_type', 'unknown_key', 'wrong_signature'].map(
      flawed,
    ),
    verifying('rejects a request without a token, and says which scheme it expects', async ({ call }) => {
      const response = await call()
      equal(response.status, 401)
      includes(response.headers.get('www-authenticate'), 'Bearer')
    }),
    verifying('rejects a text that is no token', async ({ call, reasons }) => {
      equal((await call('a.b.c')).status, 401)
      equal(typeof reasons.at(-1), 'object')
    }),
    [
      'verifier: rejects a token without the scope',
      async () => {
        const tokens = clientCredentials(credentials('jwt'))
        const verifier = createTokenVerifier({ issuers: [{ issuer: AUTH_URL, audience, clients: ['jwt'] }] })
        const guarded = requireToken(verifier, () => new Response(), { scopes: ['orders:write'] })
        const headers = { authorization: `Bearer ${(await tokens.getToken()).value}` }
        const response = await guarded(new Request(audience, { headers }))
        equal(response.status, 403)
        includes(response.headers.get('www-authenticate'), 'insufficient_scope')
        await tokens.close()
      },
    ],
    [
      'verifier: introspects an opaque token, and rejects it once it is revoked',
      async (clientId) => {
        const tokens = clientCredentials(credentials(clientId))
        const introspection = {
          authUrl: AUTH_URL,
          clientId: env.API_CLIENT_ID,
          clientSecret: env.API_CLIENT_SECRET,
          cacheMs: 0,
        }
        const guarded = requireToken(createTokenVerifier({ introspection }), () => new Response())
        const token = await tokens.getToken()
        const call = async () => {
          const headers = { authorization: `Bearer ${token.value}` }
          return (await guarded(new Request(audience, { headers }))).status
        }
        equal(await call(), 200)
        await revoke(clientId, token)
        equal(await call(), 401)
        await tokens.close()
      },
    ],

    [
      'store: two providers share one token',
      async (clientId) => {
        const store = createMemoryTokenStore()
        const [one, two] = [1, 2].map(() => clientCredentials({ ...credentials(clientId), store }))
        equal((await one.getToken()).value, (await two.getToken()).value)
        equal(await tokenRequests(clientId), 1)
        await one.close()
        await two.close()
      },
    ],
    ...storeCases('in memory', createMemoryTokenStore),
  ])
}

export function storeCases(name, createStore) {
  return tokenStoreTests(createStore).map(({ title, run }) => [`store ${name}: ${title}`, run])
}

/** Runs the cases one after another. Returns those that failed, with their reasons. */
export async function failuresOf(cases, clientIds) {
  const failures = []
  for (const [title, run] of Object.entries(cases)) {
    try {
      await run(clientIds.next().value)
    } catch (error) {
      failures.push(`${title}: ${error}`)
    }
  }
  return failures
}

/** The clients of the platform, each for one case. */
export function* clientIdsOf(count) {
  for (let number = 0; number < count; number++) yield `runtime-${number}`
}

function equal(actual, expected) {
  const [was, should] = [actual, expected].map((value) => JSON.stringify(value))
  if (was !== should) throw new Error(`it is ${was} instead of ${should}`)
}

function includes(text, part) {
  if (!String(text).includes(part)) throw new Error(`"${text}" does not contain "${part}"`)
}

async function rejection(promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
