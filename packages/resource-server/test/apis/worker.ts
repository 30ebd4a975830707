import { waitUntil } from 'cloudflare:workers'
import type { ApiConfigs } from './api-config.ts'
import { createFetchHandler } from './fetch-handler.ts'

let handle: ((request: Request) => Promise<Response>) | undefined

const worker = {
  fetch(request: Request, environment: { readonly APIS: string }): Promise<Response> {
    const configs = JSON.parse(environment.APIS) as ApiConfigs
    handle ??= createFetchHandler(
      Object.fromEntries(
        // Without waitUntil, requests share no work.
        Object.entries(configs).map(([name, options]) => [
          name,
          name === 'platform' ? options : { ...options, waitUntil },
        ]),
      ),
    )
    return handle(request)
  },
}
// oxlint-disable-next-line import/no-default-export -- what the runtime looks for
export default worker
