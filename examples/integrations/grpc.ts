// gRPC: call credentials send the token as metadata; a call with a rejected token is repeated.
import {
  credentials,
  makeGenericClientConstructor,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { type AccessToken, clientCredentials, credentialsFrom } from '@tokenwell/core'

const { GRPC_TARGET, GRPC_CA } = process.env as Record<string, string>

// Usually generated from a .proto file.
const json = {
  requestSerialize: (value: object) => Buffer.from(JSON.stringify(value)),
  requestDeserialize: (bytes: Buffer) => JSON.parse(String(bytes)) as object,
  responseSerialize: (value: object) => Buffer.from(JSON.stringify(value)),
  responseDeserialize: (bytes: Buffer) => JSON.parse(String(bytes)) as { items: string[] },
}
const listOrdersMethod: MethodDefinition<object, { items: string[] }> = {
  path: '/orders.v1.Orders/List',
  requestStream: false,
  responseStream: false,
  ...json,
}

const tokens = clientCredentials(credentialsFrom(process.env))

type Unary<Response> = (
  options: { credentials: ReturnType<typeof credentials.createFromMetadataGenerator> },
  done: (error: ServiceError | null, response?: Response) => void,
) => void

/** Sends a unary call with a token, and once more with a new one if the server rejects it. */
async function withToken<Response>(call: Unary<Response>): Promise<Response> {
  const attempt = (token: AccessToken): Promise<Response> => {
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${token.value}`)
    const callCredentials = credentials.createFromMetadataGenerator((_, done) => done(null, metadata))
    return new Promise((resolve, reject) => {
      call({ credentials: callCredentials }, (error, response) =>
        error ? reject(error) : resolve(response!),
      )
    })
  }
  const token = await tokens.getToken()
  return attempt(token).catch(async (error: ServiceError) => {
    if (error.code !== status.UNAUTHENTICATED) throw error
    tokens.reject(token)
    return attempt(await tokens.getToken())
  })
}

// gRPC sends call credentials over TLS only.
const OrdersClient = makeGenericClientConstructor({ list: listOrdersMethod }, 'Orders')
const client = new OrdersClient(GRPC_TARGET!, credentials.createSsl(Buffer.from(GRPC_CA!)))

export async function listOrders(): Promise<string[]> {
  const { items } = await withToken<{ items: string[] }>((options, done) =>
    client['list']!({}, options, done),
  )
  return items
}

export const close = () => client.close()
