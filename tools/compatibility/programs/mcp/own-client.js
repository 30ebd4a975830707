// The official SDK's own clients, unpatched, and one behind `tokenwell proxy` reach an MCP server behind
// @tokenwell/resource-server, with tokens of the service.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as v2 from '@modelcontextprotocol/client'
import * as extensions from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken, resourceMetadata } from '@tokenwell/resource-server/express'
import { startTokenService } from '@tokenwell/token-service'

const v1 = { Client, StreamableHTTPClientTransport, ...extensions }
const { publicKey, privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const api = { clientId: 'mcp-server', clientSecret: 'api-secret-0123456789' }
const secret = { clientId: 'agent', clientSecret: 'agent-secret-0123456789' }

let handle
let lastToken
const server = createServer((request, response) => {
  lastToken = request.headers.authorization?.replace(/^Bearer /, '')
  handle(request, response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${server.address().port}`
const resource = `${origin}/mcp`

const agent = {
  name: 'agent',
  responseForm: 'rfc6749',
  tokenFormat: 'jwt',
  audiences: [resource],
  scopes: ['orders:read'],
}
const service = await startTokenService({
  applications: [
    { ...agent, ...secret },
    { ...agent, clientId: 'agent-with-key', publicKey },
  ],
  resourceServers: [api],
  format: 'standard',
})
const verifier = createTokenVerifier({
  issuer: service.authUrl,
  resource,
  scopesSupported: ['orders:read'],
  introspection: { authUrl: service.authUrl, ...api, cacheMs: 0 },
  checkRevocation: true,
})
const metadata = resourceMetadata(verifier)
const guards = {
  '/mcp': requireToken(verifier, { scopes: ['orders:read'] }),
  '/admin': requireToken(verifier, { scopes: ['orders:write'] }),
}
handle = (request, response) =>
  metadata(request, response, () => {
    const guard = guards[new URL(request.url, origin).pathname]
    if (!guard) return response.writeHead(404).end()
    guard(request, response, async () => {
      const mcp = new McpServer({ name: 'orders', version: '1.0.0' })
      mcp.registerTool('list_orders', {}, () => ({ content: [{ type: 'text', text: 'tea' }] }))
      const transport = new StreamableHTTPServerTransport()
      response.on('close', () => void mcp.close())
      await mcp.connect(transport)
      await transport.handleRequest(
        request,
        response,
        request.method === 'POST' ? await json(request) : undefined,
      )
    })
  })

const callerOf = (client) => async () =>
  (await client.callTool({ name: 'list_orders', arguments: {} })).content[0].text

async function revoke(token) {
  const { clientId: client_id, clientSecret: client_secret } = secret
  const body = new URLSearchParams({ token, client_id, client_secret })
  const { status } = await fetch(`${service.authUrl}/oauth/revoke`, { method: 'POST', body })
  assert.equal(status, 200)
}

const providers = {
  ClientCredentialsProvider: ({ ClientCredentialsProvider }) =>
    new ClientCredentialsProvider({ ...secret, expectedIssuer: service.authUrl }),
  PrivateKeyJwtProvider: ({ PrivateKeyJwtProvider }) =>
    new PrivateKeyJwtProvider({
      clientId: 'agent-with-key',
      privateKey,
      algorithm: 'ES256',
      expectedIssuer: service.authUrl,
    }),
}
for (const [version, sdk] of Object.entries({ v1, v2 })) {
  for (const [name, createProvider] of Object.entries(providers)) {
    const provider = createProvider(sdk)
    const client = new sdk.Client({ name: 'agent', version: '1.0.0' })
    await client.connect(new sdk.StreamableHTTPClientTransport(new URL(resource), { authProvider: provider }))
    const call = callerOf(client)
    assert.equal(await call(), 'tea')

    const first = provider.tokens().access_token
    const authorization = `Bearer ${first}`
    const rejected = await fetch(`${origin}/admin`, { method: 'POST', headers: { authorization } })
    assert.equal(rejected.status, 403)
    assert.match(rejected.headers.get('www-authenticate'), /error="insufficient_scope".*scope="orders:write"/)

    if (name === 'ClientCredentialsProvider') {
      await revoke(first)
      assert.equal(await call(), 'tea')
      assert.notEqual(provider.tokens().access_token, first)
    }
    await client.close()
    console.log(`${name} of the SDK ${version}: tool called, wrong scope rejected`)
  }
}

// An agent's client without tokens of its own.
const command = fileURLToPath(new URL('node_modules/tokenwell/dist/tokenwell.js', import.meta.url))
const proxy = spawn(process.execPath, [command, 'proxy', '--to', resource], {
  env: { AUTH_URL: service.authUrl, CLIENT_ID: secret.clientId, CLIENT_SECRET: secret.clientSecret },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(proxy.stdout, 'data')
const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(String(line).trim())))
const call = callerOf(client)
assert.equal(await call(), 'tea')
const first = lastToken
await revoke(first)
assert.equal(await call(), 'tea')
assert.notEqual(lastToken, first)
await client.close()
proxy.kill()
console.log('MCP through the proxy: tools called, revoked token replaced')

server.close()
server.closeAllConnections()
await service.close()
