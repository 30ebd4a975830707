import { createServer, type IncomingMessage } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { client, listen, standardForm, type TokenServer } from './token-server.ts'

/** An in-memory model as in its documentation, on bare `node:http`, the fastest host for it. */
export async function start(): Promise<TokenServer> {
  const clients = new Map([[client.id as string, client.secret as string]])
  const tokens = new Map<string, OAuth2Server.Token>()
  const model: OAuth2Server.ClientCredentialsModel = {
    getClient: async (id, secret) => clients.get(id) === secret && { id, grants: ['client_credentials'] },
    getUserFromClient: async ({ id }) => ({ id }),
    async saveToken(token, client, user) {
      const saved = { ...token, client, user }
      tokens.set(token.accessToken, saved)
      return saved
    },
    getAccessToken: async (value) => tokens.get(value) ?? false,
  }
  const oauth = new OAuth2Server({ model, accessTokenLifetime: 3600 })

  const server = createServer((incoming, outgoing) => {
    void readForm(incoming).then(async (body) => {
      const headers = incoming.headers as Record<string, string>
      const request = new OAuth2Server.Request({ method: incoming.method ?? '', query: {}, headers, body })
      const response = new OAuth2Server.Response()
      // The response contains the reason for a rejection.
      await oauth.token(request, response).catch(() => {})
      outgoing.writeHead(response.status ?? 500, { ...response.headers, 'content-type': 'application/json' })
      outgoing.end(JSON.stringify(response.body))
    })
  })
  const origin = await listen(server)
  return { url: `${origin}/token`, bodies: [standardForm], close: async () => void server.close() }
}

async function readForm(incoming: IncomingMessage): Promise<Record<string, string>> {
  return new Promise((resolve) => {
    let text = ''
    incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    incoming.on('end', () => resolve(Object.fromEntries(new URLSearchParams(text))))
  })
}
