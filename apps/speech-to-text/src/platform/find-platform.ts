import { connectionFromEnvironment } from './connection-from-environment.ts'
import type { Platform } from './platform.ts'

/**
 * The platform that the environment names, or one started here where it names none.
 *
 * @throws {SetupError} naming the variable that is missing or wrong
 */
export async function findPlatform(environment: NodeJS.ProcessEnv): Promise<Platform> {
  const connection = connectionFromEnvironment(environment)
  if (connection) return { ...connection, close: () => Promise.resolve() }
  const { startLocalPlatform } = await import('./start-local-platform.ts')
  return startLocalPlatform()
}
