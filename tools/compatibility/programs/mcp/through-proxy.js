// An agent's client, without tokens of its own, reaches a protected MCP server through `tokenwell proxy`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

let issued = 0
const rejected = []
const server = createServer(async (request, response) => {
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.url.startsWith('/token'))
    return send(200, { access_token: `token-${++issued}`, token_type: 'Bearer', expires_in: 3600 })
  if (request.headers.authorization !== `Bearer token-${issued}`) {
    rejected.push(request.headers.authorization)
    return send(401, { error: 'invalid_token' })
  }
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
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${server.address().port}`

const command = fileURLToPath(new URL('node_modules/tokenwell/dist/tokenwell.js', import.meta.url))
const proxy = spawn(process.execPath, [command, 'proxy', '--to', `${origin}/mcp`], {
  env: { TOKEN_ENDPOINT: `${origin}/token`, CLIENT_ID: 'agent', CLIENT_SECRET: 'secret' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(proxy.stdout, 'data')

const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(String(line).trim())))
const call = async () => (await client.callTool({ name: 'list_orders', arguments: {} })).content[0].text
assert.equal(await call(), 'tea')
// The token is revoked: the proxy gets another one.
issued += 1
assert.equal(await call(), 'tea')
assert.deepEqual(rejected, ['Bearer token-1'])
await client.close()
proxy.kill()
server.close()
server.closeAllConnections()
console.log('MCP through the proxy: tools called, revoked token replaced')
