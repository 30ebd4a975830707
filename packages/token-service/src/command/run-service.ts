import { readKeyFile } from '../keys/key-file.ts'
import { startTokenService, type RunningTokenService } from '../start-token-service.ts'
import { parseStorageLocation, type StorageLocation } from '../storage/open-storage.ts'
import type { CommandLine } from './command-line.ts'
import { createServiceLogger } from './service-logger.ts'

/** Starts the service as configured, saying what it does, and stops it when the process is told to. */
export async function runService(
  { configuration: { keysFile, logLevel, ...configuration }, passwordLink }: CommandLine,
  say: (sentence: string) => void,
): Promise<void> {
  const location = parseStorageLocation(configuration.storage)
  say(openingWords(location))
  const keys = keysFile === undefined ? configuration.keys : await readKeyFile(keysFile)
  const logger = createServiceLogger(logLevel)
  const service = await startTokenService({ ...configuration, keys, logger })

  stopOnSignal(service, say)
  say(`The token service listens on ${service.authUrl}`)
  const setupLink = await service.createSetupLink()
  if (setupLink !== undefined) {
    say(`Nobody has joined its developer portal yet. To be the first, open within 15 minutes: ${setupLink}`)
  }
  if (passwordLink !== undefined) {
    const link = await service.createPasswordLink(passwordLink).catch(async (error: unknown) => {
      await service.close()
      throw error
    })
    say(`To set a new password for ${passwordLink}, open within 15 minutes: ${link}`)
  }
  if (service.sandboxUrl !== undefined) say(`Its sandbox is controlled at ${service.sandboxUrl}`)
}

function openingWords(location: StorageLocation): string {
  switch (location.kind) {
    case 'memory':
      return 'Keeping everything in memory: it is gone when the service stops.'
    case 'sqlite':
      return `Opening the SQLite database ${location.file} …`
    case 'postgres':
      return `Opening the PostgreSQL database at ${new URL(location.url).host} …`
  }
}

function stopOnSignal(service: RunningTokenService, say: (sentence: string) => void): void {
  let stopping = false
  const stop = async () => {
    // Whoever asks twice does not want to wait.
    if (stopping) process.exit(1)
    stopping = true
    say('Finishing the requests under way …')
    await service.close()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop().catch((error: unknown) => {
        say(`The service did not stop cleanly: ${error instanceof Error ? error.message : 'unknown reason'}`)
        process.exit(1)
      })
    })
  }
}
