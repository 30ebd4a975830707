// `node client.js v1|v2 KIND URL`: calls a tool with the official SDK's client, which gets its tokens from @tokenwell/core. KIND is
// `client`, or the name of an assertion and a scope to request: `valid_jwt,wif.rejected`.
import { privateKeyJwt } from '@tokenwell/client-authentication'
import { clientCredentialsForResource, createTokenFetch, jwtBearer } from '@tokenwell/core'

const [version, kind, url] = process.argv.slice(2)
const { Client, StreamableHTTPClientTransport } =
  version === 'v2'
    ? await import('@modelcontextprotocol/client')
    : {
        ...(await import('@modelcontextprotocol/sdk/client/index.js')),
        ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
      }
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const { client_id: clientId = 'client', client_secret: clientSecret, private_key_pem: privateKey } = context
const server = {
  protectedResource: url,
  trustedIssuers: (issuer) => new URL(issuer).hostname === 'localhost',
}

function createTokens() {
  if (kind === 'client') {
    const clientAuthentication =
      privateKey && privateKeyJwt({ key: privateKey, algorithm: context.signing_algorithm })
    const secret = privateKey ? undefined : (clientSecret ?? 'secret')
    return clientCredentialsForResource({ ...server, clientId, clientSecret: secret, clientAuthentication })
  }
  const [assertion, scope] = kind.split(',')
  return jwtBearer({ ...server, assertion: context[assertion], subject: 'workload', scope })
}

const tokens = createTokens()
const client = new Client({ name: 'tokenwell', version: '1.0.0' })
const fetch = createTokenFetch(tokens, { allowedOrigins: [new URL(url).origin] })
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }))
  await client.listTools()
  await client.callTool({ name: 'test-tool', arguments: {} })
  await client.close()
} catch (error) {
  // For `check.js`.
  console.log(`The client failed: ${error.kind} ${error.oauthError ?? ''}`)
  throw error
}
