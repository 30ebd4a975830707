import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A measured server: its URL and the forms of its token requests. */
export interface TokenServer {
  readonly url: string
  /** Forms that are sent in turn. */
  readonly bodies: readonly string[]
  /** Number of token requests, if it counts them. */
  readonly requests?: () => number
  readonly close: () => Promise<unknown>
}

/** The only client, registered at every server. */
export const client = { id: 'client', secret: 'secret-of-the-client-in-the-benchmarks' } as const

export const form: string = new URLSearchParams({
  client_id: client.id,
  client_secret: client.secret,
}).toString()

export const standardForm = `grant_type=client_credentials&${form}`

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
