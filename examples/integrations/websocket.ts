// WebSocket: each connection is opened with a token; after a rejection, the next one has a new token.
import { once } from 'node:events'
import { type AccessToken, clientCredentials, credentialsFrom } from '@tokenwell/core'
import { WebSocket } from 'ws'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))
/** Policy violation (RFC 6455, section 7.4.1): this API closes connections with it whose token it no longer accepts. */
const rejectedCode = 1008

interface Connection {
  readonly socket: WebSocket
  /** What to do with the response to each request. */
  readonly pending: Map<string, (items: string[] | Closed) => void>
}

class Rejected extends Error {}
class Closed extends Error {}

let connection: Promise<Connection> | undefined

/** The open connection; one that was closed is replaced. */
function connect(): Promise<Connection> {
  connection ??= open().catch((error: unknown) => {
    connection = undefined
    throw error
  })
  return connection
}

async function open(): Promise<Connection> {
  const token = await tokens.getToken()
  return openWith(token).catch(async (error: unknown) => {
    if (!(error instanceof Rejected)) throw error
    tokens.reject(token)
    return openWith(await tokens.getToken())
  })
}

async function openWith(token: AccessToken): Promise<Connection> {
  const socket = new WebSocket(`${API_URL!.replace(/^http/, 'ws')}/events`, {
    headers: { authorization: `Bearer ${token.value}` },
  })
  socket.on('unexpected-response', (request, { statusCode }) => {
    const message = `The API responded with status ${statusCode}.`
    request.destroy(statusCode === 401 ? new Rejected(message) : new Error(message))
  })
  await once(socket, 'open')
  const pending: Connection['pending'] = new Map()
  socket.on('message', (data) => {
    const { id, items } = JSON.parse((data as Buffer).toString()) as { id: string; items: string[] }
    pending.get(id)?.(items)
    pending.delete(id)
  })
  socket.on('close', (code) => {
    if (code === rejectedCode) tokens.reject(token)
    connection = undefined
    for (const settle of pending.values()) settle(new Closed('The connection was closed.'))
  })
  return { socket, pending }
}

async function request(message: object): Promise<string[]> {
  const { socket, pending } = await connect()
  const id = crypto.randomUUID()
  const response = await new Promise<string[] | Closed>((resolve) => {
    pending.set(id, resolve)
    socket.send(JSON.stringify({ id, ...message }))
  })
  if (response instanceof Closed) throw response
  return response
}

/** It only reads, so that it is sent once more if the connection is closed before the response. */
export async function listOrders(): Promise<string[]> {
  const list = { list: 'orders' }
  return request(list).catch((error: unknown) => {
    if (!(error instanceof Closed)) throw error
    return request(list)
  })
}

export const close = async () => (await connection)?.socket.close()
