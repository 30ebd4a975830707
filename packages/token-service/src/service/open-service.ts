import { createFailureLog } from '../http/error-handling.ts'
import { createMetrics, type Metrics } from '../http/metrics.ts'
import { logRequests, type RequestObserver } from '../http/request-outcome.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { createTokenIssuer, type IssueToken } from '../oauth/issue-token.ts'
import { openServiceContext } from './open-service-context.ts'
import type { ServiceContext } from '../features/context.ts'
import type { ResolvedOptions } from './service-settings.ts'

/** An open service: what its routes use. */
export interface OpenService {
  readonly options: ResolvedOptions
  readonly context: ServiceContext
  readonly issueToken: IssueToken
  readonly metrics: Metrics | undefined
  /** Called after each response. */
  readonly observers: readonly RequestObserver[]
  readonly sandbox: Sandbox | undefined
  /** Whether the service reports that it is not ready. */
  isStopping: boolean
  /** Whether clients are told to close their connections after the response. */
  closesConnections: boolean
}

/** Opens the storage. */
export async function openService(options: ResolvedOptions, sandbox?: Sandbox): Promise<OpenService> {
  const { logger } = options
  const logFailure = createFailureLog(logger ?? { error() {} })
  const context = await openServiceContext({ ...options, clock: sandbox?.clock ?? options.clock }, logFailure)
  const metrics = options.metrics ? await createMetrics(context) : undefined
  return {
    options,
    context,
    issueToken: createTokenIssuer(context),
    metrics,
    observers: [...(logger ? [logRequests(logger)] : []), ...(metrics ? [metrics.observe] : [])],
    sandbox,
    isStopping: false,
    closesConnections: false,
  }
}
