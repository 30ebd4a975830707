// `node client.js v1|v2 URL`: calls a tool with the official SDK's client, which gets its tokens from @tokenwell/core.
import { privateKeyJwt } from '@tokenwell/client-authentication'
import { clientCredentialsForResource, createTokenFetch, createTokenProvider } from '@tokenwell/core'

const [version, url] = process.argv.slice(2)
const { Client, StreamableHTTPClientTransport } =
  version === 'v2'
    ? await import('@modelcontextprotocol/client')
    : {
        ...(await import('@modelcontextprotocol/sdk/client/index.js')),
        ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
      }
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT)
const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context
const tokens = createTokenProvider(
  clientCredentialsForResource({
    protectedResource: url,
    trustedIssuers: (issuer) => new URL(issuer).hostname === 'localhost',
    clientId,
    clientSecret,
    clientAuthentication:
      privateKey && privateKeyJwt({ key: privateKey, algorithm: context.signing_algorithm }),
  }),
)
const client = new Client({ name: 'tokenwell', version: '1.0.0' })
const fetch = createTokenFetch(tokens, { allowedOrigins: [new URL(url).origin] })
await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }))
await client.listTools()
await client.callTool({ name: 'test-tool', arguments: {} })
await client.close()
