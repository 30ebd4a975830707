import { systemClock } from '../runtime/clock.ts'
import { readKeyFile } from '../clients/key-file.ts'
import { checkOptions } from '../service/token-service-options.ts'
import { serveTokenService, type RunningTokenService } from '../service/start-token-service.ts'
import type { StorageLocation } from '../storage/open-storage.ts'
import type { CommandLine } from './parse-command-line.ts'
import { createServiceLogger } from './service-logger.ts'

/** Starts the service as configured, prints its addresses, and stops it on a signal. */
export async function runService(
  { configuration, passwordLink }: CommandLine,
  print: (line: string) => void,
): Promise<void> {
  const { secretHashKeysFile, logLevel, drainSeconds, ...settings } = configuration
  const secretHashKeys =
    secretHashKeysFile === undefined ? settings.secretHashKeys : await readKeyFile(secretHashKeysFile)
  const options = checkOptions({
    ...settings,
    secretHashKeys,
    portal: true,
    logger: createServiceLogger(logLevel),
    clock: systemClock,
  })
  print(storageMessage(options.storage))
  const service = await serveTokenService(options)

  stopOnSignal(service, drainSeconds, print)
  print(`The token service is listening on ${service.authUrl}`)
  const setupLink = await service.createSetupLink()
  if (setupLink !== undefined) {
    print(
      `The developer portal has no administrator. To become the administrator, open this link within 15 minutes: ${setupLink}`,
    )
  }
  if (passwordLink !== undefined) {
    const link = await service.createPasswordLink(passwordLink).catch(async (error: unknown) => {
      await service.close()
      throw error
    })
    print(`To set a new password for ${passwordLink}, open this link within 15 minutes: ${link}`)
  }
  if (service.adminUrl !== undefined) {
    print(
      `${options.metrics ? 'Administration and metrics are' : 'Administration is'} at ${service.adminUrl}`,
    )
  }
  if (service.sandboxUrl !== undefined) print(`The sandbox's control endpoints are at ${service.sandboxUrl}`)
}

function storageMessage(location: StorageLocation): string {
  switch (location.kind) {
    case 'memory':
      return 'Everything is stored in memory and is lost when the service stops.'
    case 'sqlite':
      return `Opening the SQLite database ${location.file}…`
    case 'postgres':
      return `Opening the PostgreSQL database at ${new URL(location.url).host}…`
  }
}

function stopOnSignal(
  service: RunningTokenService,
  drainSeconds: number,
  print: (line: string) => void,
): void {
  let stopping = false
  const stop = async (signal: NodeJS.Signals) => {
    // A second signal stops at once.
    if (stopping) process.exit(1)
    stopping = true
    print('Finishing pending requests…')
    // Somebody who types Ctrl+C does not want to wait.
    await service.close({ drainSeconds: signal === 'SIGTERM' ? drainSeconds : 0 })
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        print(
          `The service did not stop cleanly: ${error instanceof Error ? error.message : 'unknown reason'}`,
        )
        process.exit(1)
      })
    })
  }
}
