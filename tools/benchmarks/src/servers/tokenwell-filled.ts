import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import type * as httpServer from '../../node_modules/@tokenwell/token-service/dist/http/http-server.d.ts'
import type * as route from '../../node_modules/@tokenwell/token-service/dist/http/fast-token-route.d.ts'
import type * as services from '../../node_modules/@tokenwell/token-service/dist/service/open-service.d.ts'
import type * as settings from '../../node_modules/@tokenwell/token-service/dist/service/token-service-options.d.ts'
import { packageFolder } from '../method/installed.ts'
import type { TokenServer } from './token-server.ts'
import { tokenPath } from './tokenwell.ts'

export interface Filling {
  readonly applications: number
  readonly tokens: number
}

/** The service with this much data in memory, which is inserted directly: through the endpoint it would take minutes. */
export async function start({ applications: size, tokens }: Filling): Promise<TokenServer> {
  const { listen } = await internal<typeof httpServer>('http/http-server.ts')
  const { fastTokenRoute } = await internal<typeof route>('http/fast-token-route.ts')
  const { openService } = await internal<typeof services>('service/open-service.ts')
  const { resolveOptions } = await internal<typeof settings>('service/token-service-options.ts')
  const applications = Array.from({ length: size }, (_, index) => ({
    name: `application ${index}`,
    clientId: `client-${index}`,
    clientSecret: secretOf(index),
  }))
  const service = await openService(resolveOptions({ applications }))
  const respond = fastTokenRoute(
    service,
    (_request, response) => void response.writeHead(404).end(),
    () => false,
  )
  const server = await listen(respond, { host: '127.0.0.1', port: 0, shape: 'classic' })
  const { storage } = service.context
  const issuedAtMs = Date.now()
  for (let index = 0; index < tokens; index++) {
    const hash = `${index}-`.padEnd(43, 'a')
    await storage.tokens.save({
      hash,
      applicationId: randomUUID(),
      secretId: '',
      generation: 0,
      products: [],
      issuedAtMs,
      expiresAtMs: issuedAtMs + 3_600_000,
    })
  }
  // A thousand of the applications, spread over all, request tokens.
  const pending = Math.min(size, 1_000)
  const bodies = Array.from({ length: pending }, (_, each) => {
    const index = Math.floor((each * size) / pending)
    return `client_id=client-${index}&client_secret=${secretOf(index)}`
  })
  return { url: server.url + tokenPath, bodies, close: () => server.close() }
}

function secretOf(index: number): string {
  return `secret-of-application-${index}-in-the-benchmarks`
}

/** From the sources: the built files are few and do not contain it as a module. */
function internal<Module>(file: string): Promise<Module> {
  return import(
    pathToFileURL(`${packageFolder('@tokenwell/token-service')}/src/${file}`).href
  ) as Promise<Module>
}
