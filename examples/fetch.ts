// fetch with tokens attached: requested once, cached, refreshed, and sent to one API only.
import {
  clientCredentials,
  createTokenFetch,
  credentialsFrom,
  TokenError,
} from '@tokenwell/core'

const baseUrl = process.env.API_URL

const tokens = clientCredentials({
  ...credentialsFrom(process.env),
  // For a log or a metric. No event contains a token or a secret.
  onEvent: ({ type }) => {
    if (type !== 'call_settled') console.log(type)
  },
})
const apiFetch = createTokenFetch(tokens, { baseUrl })

try {
  // Ten concurrent calls share one token request.
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => apiFetch('/v1/orders')),
  )
  console.log(responses.map(({ status }) => status).join(' '))

  const created = await apiFetch('/v1/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ item: 'sugar' }),
  })
  console.log(await created.json())
} catch (error) {
  // No token, so the request was not sent. The kind tells you how to react.
  if (!(error instanceof TokenError)) throw error
  console.error(error.kind, error.message)
  process.exitCode = 1
}
