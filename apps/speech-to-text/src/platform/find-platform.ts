import { connectionFromEnvironment, pageFromEnvironment } from './connection-from-environment.ts'
import type { Platform } from './platform.ts'
import type { LocalPlatformOptions } from './start-local-platform.ts'

/**
 * The platform that the environment names, or one started here where it names none.
 *
 * @throws {SetupError} naming the variable that is missing or wrong
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
