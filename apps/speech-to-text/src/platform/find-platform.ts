import { connectionFromEnvironment, pageFromEnvironment, type Platform } from './connection.ts'
import type { LocalPlatformOptions } from './start-local-platform.ts'

/**
 * Returns the platform that environment variables specify, or starts one on this machine.
 *
 * @throws {ConfigurationError} if a variable is missing or invalid
 */
export async function findPlatform(
  environment: NodeJS.ProcessEnv,
  options?: LocalPlatformOptions,
): Promise<Platform> {
  const connection = connectionFromEnvironment(environment)
  if (connection) {
    return { ...connection, page: pageFromEnvironment(environment), close: () => Promise.resolve() }
  }
  const { startLocalPlatform } = await import('./start-local-platform.ts')
  return startLocalPlatform(options)
}
