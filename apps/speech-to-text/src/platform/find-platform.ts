import { type Connection, connectionFromEnvironment } from './connection.ts'

/**
 * Returns the connection that environment variables specify, or starts the services on this machine.
 *
 * @throws {ConfigurationError} if a variable is missing or invalid
 */
export async function findPlatform(
  environment: NodeJS.ProcessEnv,
): Promise<Connection & { close(): Promise<void> }> {
  const connection = connectionFromEnvironment(environment)
  if (connection) return { ...connection, close: () => Promise.resolve() }
  const { startLocalPlatform } = await import('./start-local-platform.ts')
  return startLocalPlatform()
}
