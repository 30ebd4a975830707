import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { type RunningApis, routes, type ApiConfigs } from './api-config.ts'

export async function listen(server: Server): Promise<RunningApis> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function startExpress(configs: ApiConfigs): Promise<RunningApis> {
  const app = express()
  for (const [name, options] of Object.entries(configs)) {
    const verifier = createTokenVerifier({ ...options, onEvent: () => {} })
    for (const [route, requirements] of Object.entries(routes)) {
      app.get(`/${name}/${route}`, requireToken(verifier, requirements), (request, response) => {
        response.json(request.accessToken ?? 'anonymous')
      })
    }
  }
  return listen(createServer(app))
}

export async function startFastify(configs: ApiConfigs): Promise<RunningApis> {
  const app = Fastify({ forceCloseConnections: true })
  for (const [name, options] of Object.entries(configs)) {
    app.register(
      async (api) => {
        api.register(resourceServer, { verifier: createTokenVerifier({ ...options, onEvent: () => {} }) })
        for (const [route, accessToken] of Object.entries(routes)) {
          api.get(
            `/${route}`,
            { config: { accessToken } },
            async (request) => request.accessToken ?? '"anonymous"',
          )
        }
      },
      { prefix: `/${name}` },
    )
  }
  return { origin: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
}
