import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import type { IntrospectionOptions } from '@tokenwell/resource-server'

/** An API that introspects tokens, and its clients, over sockets. */
export interface Load extends AsyncDisposable {
  /** Tokens that the authorization server calls active. */
  readonly active: Set<string>
  /** Number of introspections. */
  readonly introspections: number
  /** Called after the authorization server has responded to an introspection. */
  afterIntrospection: (token: string) => void
  /** Status of one request to the API. */
  send(token: string): Promise<number>
  /** Calls `work` with 0, 1, 2, … on 100 tracks, until it returns false. */
  onTracks(work: (index: number) => Promise<boolean>): Promise<void>
  /** Bytes on the heap of the API's process after a collection. */
  heap(): Promise<number>
}

export async function startLoad(
  introspection: Partial<IntrospectionOptions>,
  maxCachedTokens?: number,
): Promise<Load> {
  const active = new Set<string>()
  let introspections = 0
  const introspect = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    introspections++
    const token = new URLSearchParams(await text(request)).get('token')!
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ active: active.has(token), client_id: 'client' }))
    load.afterIntrospection(token)
  }
  const authorizationServer = createServer((request, response) => void introspect(request, response))
  await once(authorizationServer.listen(0, '127.0.0.1'), 'listening')
  const { port } = authorizationServer.address() as AddressInfo
  const options = {
    maxCachedTokens,
    introspection: {
      introspectionUrl: `http://127.0.0.1:${port}`,
      clientId: 'orders-api',
      clientSecret: 'orders-secret',
      ...introspection,
    },
  }
  const api = fork(fileURLToPath(new URL('api-process.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--expose-gc', '--conditions=@tokenwell/source'],
  })
  const [origin] = (await once(api, 'message')) as [string]
  const pool = new Pool(origin, { connections: 10, pipelining: 10 })
  const load: Load = {
    active,
    afterIntrospection: () => {},
    get introspections() {
      return introspections
    },
    async send(token) {
      const headers = { authorization: `Bearer ${token}` }
      const { statusCode, body } = await pool.request({ path: '/', method: 'GET', headers })
      await body.dump()
      return statusCode
    },
    async onTracks(work) {
      let next = 0
      const track = async (): Promise<void> => {
        while (await work(next++));
      }
      await Promise.all(Array.from({ length: 100 }, track))
    },
    async heap() {
      api.send('heap')
      const [bytes] = (await once(api, 'message')) as [number]
      return bytes
    },
    async [Symbol.asyncDispose]() {
      await pool.close()
      api.disconnect()
      await once(api, 'exit')
      authorizationServer.close()
      authorizationServer.closeAllConnections()
    },
  }
  return load
}
