import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { routes, type ApiConfigs } from './api-config.ts'

/** The APIs as one handler of web-standard requests. */
export function createFetchHandler(configs: ApiConfigs): (request: Request) => Promise<Response> {
  const handlers = new Map<string, (request: Request) => Promise<Response>>(
    Object.entries(configs).flatMap(([name, options]) => {
      const verifier = createTokenVerifier({ ...options, onEvent: () => {} })
      return Object.entries(routes).map(
        ([route, requirements]) =>
          [
            `/${name}/${route}`,
            requireToken(verifier, (_request, token) => Response.json(token ?? 'anonymous'), requirements),
          ] as const,
      )
    }),
  )
  return async (request) => handlers.get(new URL(request.url).pathname)!(request)
}
