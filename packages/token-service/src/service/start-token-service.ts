import type { RunningTokenService } from './running-token-service.ts'
import { serveTokenService } from './serve-token-service.ts'
import { resolveOptions } from './service-settings.ts'
import type { TokenServiceOptions } from './token-service-options.ts'

/**
 * Starts the token service; resolves once it is listening.
 *
 * @throws {@link UsageError} if the port is in use, or the storage cannot be opened
 */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  return serveTokenService(resolveOptions(options))
}
