import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { OutputChunk } from 'rolldown'
import { readText, startServer } from '../support/issuer.ts'

/** The servers that the smoke script talks to, and the page that a browser runs it on. Returns their origin. */
export async function startSmokeServer(built: readonly OutputChunk[]): Promise<string> {
  const smokeCode = await readFile(fileURLToPath(new URL('smoke.mjs', import.meta.url)), 'utf8')
  const stats = { tokenRequests: 0, redirected: 0 }
  let live = new Set<string>()
  const json = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  const issue = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await readText(request))
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const halves = new URLSearchParams(basic && `id=${atob(basic).replace(':', '&secret=')}`)
    const secret = form.get('client_secret') ?? halves.get('secret')
    const id = form.get('client_id') ?? halves.get('id')
    if (id !== 'client' || secret !== 'secret:+ %') return json(response, 401, { error: 'invalid_client' })
    const value = `token-${++stats.tokenRequests}`
    live.add(value)
    json(response, 200, {
      access_token: value,
      token_type: 'Bearer',
      expires_in: '60',
      scope: form.get('scope'),
    })
  }
  const path = '/oauth/client_credential/accesstoken'
  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => unknown> = {
    '/': (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
    ...Object.fromEntries(
      built.map(({ fileName, code }) => [
        `/${fileName}`,
        (_request: IncomingMessage, response: ServerResponse) =>
          response.writeHead(200, { 'content-type': 'text/javascript' }).end(code),
      ]),
    ),
    '/smoke.js': (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(smokeCode),
    '/stats': (_request, response) => json(response, 200, stats),
    [path]: issue,
    [`//${path.slice(1)}`]: issue,
    '/token': issue,
    [`/slow${path}`]: (request, response) => setTimeout(() => void issue(request, response), 100),
    [`/never${path}`]: () => {},
    '/redirect': (_request, response) => response.writeHead(307, { location: '/redirected' }).end(),
    '/redirected': (_request, response) => {
      stats.redirected++
      response.end()
    },
    '/large': (_request, response) => response.end(' '.repeat(3 * 1024 * 1024)),
    '/revoke': (_request, response) => {
      live = new Set()
      response.end()
    },
    '/api': async (request, response) => {
      const body = await readText(request)
      response.statusCode = live.has(request.headers.authorization?.slice(7) ?? '') ? 200 : 401
      response.end(body)
    },
    '/backend': (_request, response) =>
      json(response, 200, { access_token: 'from-backend', token_type: 'Bearer', expires_in: 60 }),
  }
  return startServer((request, response) => {
    const route = routes[new URL(request.url!, 'http://localhost').pathname]
    if (route) route(request, response)
    else response.writeHead(404).end()
  })
}
