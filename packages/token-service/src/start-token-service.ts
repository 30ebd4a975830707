import { createTokenService } from './create-token-service.ts'
import type { TokenServiceOptions } from './token-service-options.ts'

export interface RunningTokenService {
  /** What clients are configured with: the address the service's paths are under. */
  readonly authUrl: string
  /** Finishes the requests under way, then stops. */
  close(): Promise<void>
}

/** Starts the token service and answers once it listens. */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  const server = createTokenService(options)
  const authUrl = await server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' })
  return {
    authUrl,
    close: () => server.close(),
  }
}
