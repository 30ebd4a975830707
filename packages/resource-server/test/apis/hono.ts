import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { createTokenVerifier, type VerifiedToken } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { routes, type ApiConfigs, type RunningApis } from './api-config.ts'
import { listen } from './node-apis.ts'

export async function startHono(configs: ApiConfigs): Promise<RunningApis> {
  const app = new Hono<{ Variables: { accessToken: VerifiedToken | undefined } }>()
  for (const [name, options] of Object.entries(configs)) {
    const verifier = createTokenVerifier({ ...options, onEvent: () => {} })
    for (const [route, requirements] of Object.entries(routes)) {
      app.use(`/${name}/${route}`, (context, next) =>
        requireToken(
          verifier,
          async (_request, token) => {
            context.set('accessToken', token)
            await next()
            return context.res
          },
          requirements,
        )(context.req.raw),
      )
      app.get(`/${name}/${route}`, (context) => context.json(context.get('accessToken') ?? 'anonymous'))
    }
  }
  // The server replaces these in the whole process, so also for other tests.
  const { Request, Response } = Object.getOwnPropertyDescriptors(globalThis)
  const apis = await listen(createAdaptorServer({ fetch: app.fetch }) as Server)
  return {
    ...apis,
    async close() {
      await apis.close()
      Object.defineProperties(globalThis, { Request, Response })
    },
  }
}
