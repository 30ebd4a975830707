// Each client sends a request, has its token revoked, and sends a request with a body: both must arrive.
import assert from 'node:assert/strict'
import { createClient as createHeyApi } from '@hey-api/client-fetch'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import { ofetch } from 'ofetch'
import createOpenapiFetch from 'openapi-fetch'
import { up } from 'up-fetch'

/** By client: the function that sends `text`, and returns what arrived. */
const clients = {
  async 'openapi-fetch'({ apiFetch, baseUrl }) {
    const client = createOpenapiFetch({ baseUrl, fetch: apiFetch })
    return async (text) => (await client.POST('/v1/orders', { body: { text } })).data.text
  },
  async 'hey-api'({ apiFetch, baseUrl }) {
    const client = createHeyApi({ baseUrl, fetch: apiFetch })
    return async (text) => {
      const { data } = await client.post({
        url: '/v1/orders',
        body: { text },
        headers: { 'content-type': 'application/json' },
      })
      return data.text
    }
  },
  async 'up-fetch'({ apiFetch, baseUrl }) {
    const upfetch = up(apiFetch, () => ({ baseUrl }))
    return async (text) => (await upfetch('/v1/orders', { method: 'POST', body: { text } })).text
  },
  async ofetch({ apiFetch, baseUrl }) {
    const client = ofetch.create({ baseURL: baseUrl }, { fetch: apiFetch, Headers, AbortController })
    return async (text) => (await client('/v1/orders', { method: 'POST', body: { text } })).text
  },
  async "ky's own fetch option"({ apiFetch, baseUrl }) {
    const client = ky.create({ prefix: baseUrl, fetch: apiFetch })
    return async (text) => (await client.post('v1/orders', { json: { text } }).json()).text
  },
  async 'ky hook, retry 0'({ tokens, baseUrl, allowedOrigins }) {
    const client = ky.create({ prefix: baseUrl, retry: 0 }).extend(tokenHooks(tokens, { allowedOrigins }))
    return async (text) => (await client.get('v1/orders').json()).length === 2 && text
  },
  async "axios's own fetch option"({ apiFetch, baseUrl }) {
    const client = axios.create({ baseURL: baseUrl, adapter: 'fetch', env: { fetch: apiFetch } })
    return async (text) => (await client.post('/v1/orders', { text })).data.text
  },
  async 'axios interceptor'({ tokens, baseUrl }) {
    const client = axios.create({ baseURL: baseUrl })
    attachTokens(client, tokens)
    return async (text) => (await client.post('/v1/orders', { text })).data.text
  },
}

const { AUTH_URL, API_URL, SANDBOX_URL, CLIENT_ID, CLIENT_SECRET } = process.env
const allowedOrigins = [API_URL]
let failed = 0
const only = process.argv.slice(2)
for (const [name, create] of Object.entries(clients)) {
  if (only.length > 0 && !only.includes(name)) continue
  const tokens = clientCredentials({ authUrl: AUTH_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET })
  try {
    const apiFetch = createTokenFetch(tokens, { allowedOrigins })
    const send = await create({ apiFetch, tokens, baseUrl: API_URL, allowedOrigins })
    for (const text of ['first', 'second', 'third']) {
      // All tokens expire, which the provider does not know.
      await fetch(`${SANDBOX_URL}/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{ "advanceSeconds": 7200 }',
      })
      assert.equal(await send(text), text)
    }
  } catch (error) {
    failed++
    console.error(`${name}: ${error}`)
  }
  await tokens.close()
}
process.exit(failed > 0 ? 1 : 0)
