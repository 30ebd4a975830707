import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { Server, type AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'

// Runs a block as a reader would, and exits even if it leaves servers and clients open.
const [, , file = '', place] = process.argv
const env = process.env as Record<string, string>

// A port that a page names may be in use on this machine.
const listen = Reflect.get(Server.prototype, 'listen') as (...args: unknown[]) => Server
const anyPort = (argument: unknown): unknown => {
  if (typeof argument === 'number') return 0
  return typeof argument === 'object' ? { ...argument, port: 0 } : argument
}
Server.prototype.listen = function (this: Server, ...[port, ...rest]: unknown[]) {
  return listen.call(this, anyPort(port), ...rest)
}

if (place === 'page') await openPage()
await import(pathToFileURL(file).href)
// Tests begin only after the file has been read.
if (!/from 'node:test'/.test(readFileSync(file, 'utf8'))) process.exit()

/** Provides the parts of a page that blocks use: relative URLs, and a backend with a token route. */
async function openPage(): Promise<void> {
  const backend = createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/token') void sendToken(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`
  Object.assign(globalThis, { location: { href: base, origin: base.slice(0, -1) } })
  const { fetch: send } = globalThis
  globalThis.fetch = (input, init) => send(typeof input === 'string' ? new URL(input, base) : input, init)
}

async function sendToken(response: ServerResponse): Promise<void> {
  const url = `${env.AUTH_URL}/oauth/client_credential/accesstoken?grant_type=client_credentials`
  const form = { client_id: env.PAGE_CLIENT_ID!, client_secret: env.PAGE_CLIENT_SECRET! }
  const forwarded = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  response.writeHead(200, headers).end(await forwarded.text())
}
