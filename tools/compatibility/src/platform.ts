import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Token service and API of one program, below a separate path. */
interface Area {
  lifetimeSeconds: number
  delayMs: number
  readonly expiries: Map<string, number>
  readonly counts: { tokenRequests: number; accepted: number; rejected: number }
}

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-allow-methods': '*',
}

/**
 * Starts a server on which each program has an area:
 * - `POST /AREA/oauth/client_credential/accesstoken` issues a token
 * - `/AREA/api/…` accepts requests with a valid token, and returns what it received
 * - `POST /AREA/settings` sets `lifetimeSeconds` and `delayMs` of token responses, `POST /AREA/revoke` revokes all tokens
 * - `GET /AREA/counts` counts requests
 */
export async function startPlatform() {
  const areas = new Map<string, Area>()
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const send = (status: number, value: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { ...cors, 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(value))
    }
    if (request.method === 'OPTIONS') return send(200, {})
    const [, name = '', ...rest] = new URL(request.url!, origin).pathname.split('/')
    const path = `/${rest.join('/')}`
    const area = areaOf(name)
    if (path === '/counts') return send(200, area.counts)
    if (path === '/settings') return send(200, Object.assign(area, JSON.parse(body)))
    if (path === '/revoke') return send(200, { revoked: area.expiries.clear() === undefined })
    if (path.endsWith('/accesstoken')) {
      area.counts.tokenRequests++
      await delay(area.delayMs)
      const token = `token-${name}-${area.counts.tokenRequests}`
      area.expiries.set(token, Date.now() + area.lifetimeSeconds * 1000)
      return send(200, {
        access_token: token,
        token_type: 'Bearer',
        expires_in: String(area.lifetimeSeconds),
      })
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined || (area.expiries.get(token) ?? 0) <= Date.now()) {
      area.counts.rejected++
      return send(401, { error: 'invalid_token' }, { 'www-authenticate': 'Bearer error="invalid_token"' })
    }
    area.counts.accepted++
    return send(200, responseOf(path, request.method!, body))
  }

  function areaOf(name: string): Area {
    const area = areas.get(name) ?? {
      lifetimeSeconds: 3600,
      delayMs: 0,
      expiries: new Map(),
      counts: { tokenRequests: 0, accepted: 0, rejected: 0 },
    }
    areas.set(name, area)
    return area
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  return text
}

/** The received text, in the form that the client of that path expects. */
function responseOf(path: string, method: string, body: string): object {
  if (path.endsWith('/graphql')) {
    const { variables } = JSON.parse(body) as { variables?: { text?: string } }
    return { data: { echo: variables?.text ?? null } }
  }
  if (path.endsWith('/chat/completions')) {
    const { messages, model } = JSON.parse(body) as { model: string; messages: { content: string }[] }
    const message = { role: 'assistant', content: messages.at(-1)?.content }
    return {
      id: '1',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, finish_reason: 'stop', message }],
    }
  }
  return { method, path, body }
}
