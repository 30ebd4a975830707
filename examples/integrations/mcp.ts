// Model Context Protocol: pass the result of createTokenFetch to the client's transport, instead of an authProvider.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'

const { MCP_URL } = process.env as Record<string, string>

const tokens = clientCredentials(credentialsFrom(process.env))
const transport = new StreamableHTTPClientTransport(new URL(MCP_URL!), {
  fetch: createTokenFetch(tokens, { baseUrl: MCP_URL }),
})
const client = new Client({ name: 'orders', version: '1.0.0' })
await client.connect(transport)

export async function listOrders(): Promise<string[]> {
  const { content } = await client.callTool({ name: 'list_orders' })
  return (content as { text: string }[]).map(({ text }) => text)
}

export const close = () => client.close()
