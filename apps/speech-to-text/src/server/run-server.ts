import getPort, { portNumbers } from 'get-port'
import { describeFailure } from '../command/describe-failure.ts'
import { findPlatform } from '../platform/find-platform.ts'
import { SetupError } from '../setup-error.ts'
import { createServer, type ServerOptions } from './create-server.ts'

const host = '127.0.0.1'

/** Starts the server, and the platform where the environment names none; prints the page's address. */
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
    const sentence = describeFailure(error)
    if (sentence === undefined) throw error
    process.stderr.write(`${sentence}\n`)
    process.exitCode = 1
  }
}

async function choosePort(wanted: string | undefined): Promise<number> {
  if (!wanted) return getPort({ port: portNumbers(3000, 3099), host })
  const port = Number(wanted)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new SetupError('PORT must be a number from 1 to 65535.')
  }
  if ((await getPort({ port, host })) !== port) throw new SetupError(`PORT ${port} is in use: take another.`)
  return port
}
