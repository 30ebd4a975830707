import { onTestFinished } from 'vitest'
import type { RunningTokenService, TokenServiceOptions } from '@tokenwell/token-service'
import { openService } from '../src/service/open-service.ts'
import type { ServiceContext } from '../src/oauth/service-context.ts'
import { resolveOptions } from '../src/service/token-service-options.ts'
import { serve } from '../src/service/start-token-service.ts'
import { application, resourceServer } from './test-service.ts'

/** A service that lasts as long as the test, and what its endpoints use. */
export async function serviceWithContext(
  options: TokenServiceOptions = {},
): Promise<RunningTokenService & { readonly context: ServiceContext }> {
  const defaults = { applications: [application], resourceServers: [resourceServer] }
  const open = await openService(resolveOptions({ ...defaults, ...options }))
  const service = await serve(open)
  onTestFinished(() => service.close())
  return { ...service, context: open.context }
}
