import { createServer } from 'node:http'
import { client, listen, standardForm, type TokenServer } from './token-server.ts'

const body = JSON.stringify({ access_token: 'a'.repeat(43), token_type: 'Bearer', expires_in: 3600 })

/** The lower bound: a handler that parses the form, checks the credentials, and returns the same bytes each time. */
export async function start(): Promise<TokenServer> {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const form = new URLSearchParams(text)
      const known = form.get('client_id') === client.id && form.get('client_secret') === client.secret
      response.writeHead(known ? 200 : 401, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
      })
      response.end(known ? body : '{"error":"invalid_client"}')
    })
  })
  const origin = await listen(server)
  return { url: `${origin}/token`, bodies: [standardForm], close: async () => void server.close() }
}
