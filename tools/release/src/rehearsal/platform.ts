import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A token service, and APIs that accept only its tokens. */
export interface Platform {
  readonly environment: Record<string, string>
  /**
   * Runs a function with a separate API; returns the requests that the API accepted.
   *
   * @param page folder of a page, for which the server of the API is also the backend
   */
  withApi(use: (apiUrl: string) => Promise<unknown>, page?: string): Promise<string[]>
  close(): Promise<void>
}

interface TokenService {
  readonly authUrl: string
  close(): Promise<void>
}

const client = { clientId: 'rehearsal', clientSecret: 'rehearsal-secret' }
const tokenPath = '/oauth/client_credential/accesstoken?grant_type=client_credentials'
const api = { clientId: 'api', clientSecret: 'api-secret' }

/** @param project the copy whose token service was built */
export async function startPlatform(project: string): Promise<Platform> {
  const entry = pathToFileURL(join(project, 'packages/token-service/dist/index.js')).href
  const { startTokenService } = (await import(entry)) as {
    startTokenService: (options: object) => Promise<TokenService>
  }
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'key-1' }
  const applications = [{ name: 'rehearsal', ...client, jwks: { keys: [jwk] } }]
  const service = await startTokenService({ applications, resourceServers: [api] })
  const form = (values: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(values) })
  const post = async (path: string, values: Record<string, string>) =>
    (await fetch(`${service.authUrl}${path}`, form(values))).text()

  const isActive = async (authorization = '') => {
    const token = /^Bearer (.+)$/.exec(authorization)?.[1] ?? ''
    const values = { token, client_id: api.clientId, client_secret: api.clientSecret }
    return (JSON.parse(await post('/oauth/introspect', values)) as { active: boolean }).active
  }

  const newToken = () =>
    post(tokenPath, {
      client_id: client.clientId,
      client_secret: client.clientSecret,
    })

  return {
    environment: {
      AUTH_URL: service.authUrl,
      CLIENT_ID: client.clientId,
      CLIENT_SECRET: client.clientSecret,
      TOKEN_ENDPOINT: service.authUrl + tokenPath,
      PRIVATE_KEY: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    },
    async withApi(use, page) {
      const seen: string[] = []
      const handle = async ({ method, url = '', headers }: IncomingMessage, response: ServerResponse) => {
        if (page !== undefined && method === 'POST') return response.end(await newToken())
        if (page !== undefined && !url.startsWith('/v1/')) return sendFile(page, url, response)
        const active = await isActive(headers.authorization)
        if (active) seen.push(`${method} ${url}`)
        return response.writeHead(active ? 200 : 401, { 'content-type': 'application/json' }).end('[]')
      }
      const server = createServer((request, response) => {
        handle(request, response).catch((error: unknown) => response.destroy(error as Error))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      } finally {
        server.closeAllConnections()
        server.close()
      }
      return seen
    },
    close: () => service.close(),
  }
}

function sendFile(folder: string, url: string, response: ServerResponse): unknown {
  const file = join(folder, url === '/' ? 'index.html' : url)
  if (!existsSync(file)) return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': file.endsWith('.js') ? 'text/javascript' : 'text/html' })
  return createReadStream(file).pipe(response)
}
