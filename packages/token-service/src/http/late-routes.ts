import type { RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Routes that are loaded when the first request needs them. */
export interface LateRoutes {
  readonly respond: RequestListener
  load(): Promise<FastifyInstance>
  close(): Promise<void>
}

/** Fastify and its routes take half of the processor time until the first token, which does not need them. */
export function createLateRoutes(
  create: () => Promise<FastifyInstance>,
  onError: (error: unknown) => void,
): LateRoutes {
  let loading: Promise<FastifyInstance> | undefined

  async function start(): Promise<FastifyInstance> {
    const server = await create()
    await server.ready()
    return server
  }

  function load(): Promise<FastifyInstance> {
    return (loading ??= start())
  }

  return {
    load,
    respond(request, response) {
      load().then(
        (server) => server.routing(request, response),
        (error: unknown) => {
          onError(error)
          loading = undefined
          response.writeHead(500, { connection: 'close' }).end()
        },
      )
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close()
    },
  }
}
