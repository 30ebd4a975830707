import Fastify from 'fastify'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { routes, type ApiConfigs, type RunningApis } from './api-config.ts'

export async function startFastify(configs: ApiConfigs): Promise<RunningApis> {
  const app = Fastify({ forceCloseConnections: true })
  for (const [name, options] of Object.entries(configs)) {
    app.register(
      async (api) => {
        api.register(resourceServer, { verifier: createTokenVerifier({ ...options, onEvent: () => {} }) })
        for (const [route, accessToken] of Object.entries(routes)) {
          api.get(`/${route}`, { config: { accessToken } }, async (request) => request.accessToken)
        }
      },
      { prefix: `/${name}` },
    )
  }
  return { origin: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
}
