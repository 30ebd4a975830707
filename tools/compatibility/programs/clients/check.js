// Each client sends a request, has its token revoked, and sends a request with a body: both must arrive.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core'
import { createClient as createHeyApi } from '@hey-api/client-fetch'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import { GraphQLClient } from 'graphql-request'
import ky from 'ky'
import { ofetch } from 'ofetch'
import OpenAI from 'openai'
import createOpenapiFetch from 'openapi-fetch'
import { up } from 'up-fetch'
import { z } from 'zod'

/** By client: the function that sends `text`, and returns what arrived. */
const clients = {
  async 'openapi-fetch'({ apiFetch, baseUrl }) {
    const client = createOpenapiFetch({ baseUrl, fetch: apiFetch })
    return async (text) => JSON.parse((await client.POST('/orders', { body: { text } })).data.body).text
  },
  async 'hey-api'({ apiFetch, baseUrl }) {
    const client = createHeyApi({ baseUrl, fetch: apiFetch })
    return async (text) => {
      const { data } = await client.post({
        url: '/orders',
        body: { text },
        headers: { 'content-type': 'application/json' },
      })
      return JSON.parse(data.body).text
    }
  },
  async 'up-fetch'({ apiFetch, baseUrl }) {
    const upfetch = up(apiFetch, () => ({ baseUrl }))
    return async (text) =>
      JSON.parse((await upfetch('/orders', { method: 'POST', body: { text } })).body).text
  },
  async 'graphql-request'({ apiFetch, baseUrl }) {
    const client = new GraphQLClient(`${baseUrl}/graphql`, { fetch: apiFetch })
    return async (text) =>
      (await client.request('query Echo($text: String) { echo(text: $text) }', { text })).echo
  },
  async Apollo({ apiFetch, baseUrl }) {
    const link = new HttpLink({ uri: `${baseUrl}/graphql`, fetch: apiFetch })
    const client = new ApolloClient({ link, cache: new InMemoryCache() })
    const mutation = gql`
      mutation Echo($text: String) {
        echo(text: $text)
      }
    `
    return async (text) => (await client.mutate({ mutation, variables: { text } })).data.echo
  },
  async ofetch({ apiFetch, baseUrl }) {
    const client = ofetch.create({ baseURL: baseUrl }, { fetch: apiFetch, Headers, AbortController })
    return async (text) => JSON.parse((await client('/orders', { method: 'POST', body: { text } })).body).text
  },
  async 'OpenAI SDK'({ apiFetch, baseUrl }) {
    const client = new OpenAI({
      apiKey: 'unused',
      baseURL: `${baseUrl}/v1`,
      fetch: apiFetch,
      maxRetries: 0,
      defaultHeaders: { Authorization: null },
    })
    return async (text) => {
      const messages = [{ role: 'user', content: text }]
      const { choices } = await client.chat.completions.create({ model: 'echo', messages })
      return choices[0].message.content
    }
  },
  async 'MCP client'({ apiFetch, baseUrl, stack }) {
    const server = await startMcpServer(baseUrl)
    stack.defer(() => server.close())
    const client = new Client({ name: 'compatibility', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(server.url, { fetch: apiFetch }))
    stack.defer(() => client.close())
    return async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).content[0].text
  },
  async "ky's own fetch option"({ apiFetch, baseUrl }) {
    const client = ky.create({ prefix: baseUrl, fetch: apiFetch })
    return async (text) => JSON.parse((await client.post('orders', { json: { text } }).json()).body).text
  },
  async 'ky hook, retry 0'({ tokens, baseUrl, allowedOrigins }) {
    const client = ky.create({ prefix: baseUrl, retry: 0 }).extend(tokenHooks(tokens, { allowedOrigins }))
    return async (text) =>
      new URL((await client.get(`orders/${text}`).json()).path, baseUrl).pathname.split('/').at(-1)
  },
  async "axios's own fetch option"({ apiFetch, baseUrl }) {
    const client = axios.create({ baseURL: baseUrl, adapter: 'fetch', env: { fetch: apiFetch } })
    return async (text) => JSON.parse((await client.post('/orders', { text })).data.body).text
  },
  async 'axios interceptor'({ tokens, baseUrl }) {
    const client = axios.create({ baseURL: baseUrl })
    attachTokens(client, tokens)
    return async (text) => JSON.parse((await client.post('/orders', { text })).data.body).text
  },
}

let failed = 0
const only = process.argv.slice(2)
for (const [name, create] of Object.entries(clients)) {
  if (only.length > 0 && !only.includes(name)) continue
  const platform = `${process.env.PLATFORM}-${name.toLowerCase().replaceAll(/\W+/g, '-')}`
  await using stack = new AsyncDisposableStack()
  const tokens = createTokenProvider(
    clientCredentials({ authUrl: platform, clientId: 'c', clientSecret: 'secret' }),
  )
  stack.defer(() => tokens.close())
  // The server of the platform, and the MCP server.
  const allowedOrigins = [(url) => url.hostname === '127.0.0.1']
  try {
    const apiFetch = createTokenFetch(tokens, { allowedOrigins })
    const baseUrl = `${platform}/api`
    const send = await create({ apiFetch, tokens, baseUrl, allowedOrigins, stack })
    for (const text of ['first', 'second', 'third']) {
      await fetch(`${platform}/revoke`, { method: 'POST' })
      assert.equal(await send(text), text)
    }
  } catch (error) {
    failed++
    console.error(`${name}: ${error}`)
  }
}
process.exit(failed > 0 ? 1 : 0)

/** An MCP server that accepts the same tokens as the API at `baseUrl`. */
async function startMcpServer(baseUrl) {
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const { status } = await fetch(`${baseUrl}/check`, { headers: { authorization } })
    if (status !== 200)
      return response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    const mcp = new McpServer({ name: 'echo', version: '1.0.0' })
    mcp.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    })
    await mcp.connect(transport)
    await transport.handleRequest(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${server.address().port}/mcp`),
    close: () => server.closeAllConnections() ?? new Promise((resolve) => server.close(resolve)),
  }
}
