import getPort, { portNumbers } from 'get-port'
import { describeError } from '../platform/describe-error.ts'
import { findPlatform } from '../platform/find-platform.ts'
import { ConfigurationError } from '../platform/connection.ts'
import { createServer, type ServerOptions } from './create-server.ts'

const host = '127.0.0.1'

/** Starts the server, and a platform unless environment variables specify one; prints the URL of the page. */
export async function runServer(options?: ServerOptions): Promise<void> {
  try {
    const port = await choosePort(process.env['PORT'])
    const platform = await findPlatform(process.env, {
      pageOrigins: [`http://${host}:${port}`, `http://localhost:${port}`],
    })
    const server = await createServer(platform, options)
    await server.listen(port, host)
    process.stdout.write(`http://${host}:${port}\n`)
  } catch (error) {
    const message = describeError(error)
    if (message === undefined) throw error
    process.stderr.write(`${message}\n`)
    process.exitCode = 1
  }
}

async function choosePort(requested: string | undefined): Promise<number> {
  if (!requested) return getPort({ port: portNumbers(3000, 3099), host })
  const port = Number(requested)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigurationError('PORT must be a whole number from 1 to 65535.')
  }
  if ((await getPort({ port, host })) !== port)
    throw new ConfigurationError(`Port ${port} is in use. Set PORT to another one.`)
  return port
}
