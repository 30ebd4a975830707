import { createServer } from 'node:http'
import express from 'express'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { routes, type ApiConfigs, type RunningApis } from './api-config.ts'
import { listen } from './listen.ts'

export function startExpress(configs: ApiConfigs): Promise<RunningApis> {
  const app = express()
  for (const [name, options] of Object.entries(configs)) {
    const verifier = createTokenVerifier({ ...options, onEvent: () => {} })
    for (const [route, requirements] of Object.entries(routes)) {
      app.get(`/${name}/${route}`, requireToken(verifier, requirements), (request, response) => {
        response.json(request.accessToken)
      })
    }
  }
  return listen(createServer(app))
}
