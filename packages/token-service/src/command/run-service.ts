import { systemClock } from '../runtime/clock.ts'
import { readKeyFile } from '../service/key-file.ts'
import { checkOptions } from '../service/service-settings.ts'
import type { RunningTokenService } from '../service/running-token-service.ts'
import { serveTokenService } from '../service/serve-token-service.ts'
import type { StorageLocation } from '../storage/open-database.ts'
import { version, type CommandLine } from './parse-command-line.ts'
import { createServiceLogger, holdLog } from './service-logger.ts'

/** Starts the service as configured, prints its addresses, and stops it on a signal. */
export async function runService(
  { configuration, passwordLink }: CommandLine,
  print: (line: string) => void,
): Promise<void> {
  const { secretHashKeysFile, logLevel, drainSeconds, ...settings } = configuration
  const secretHashKeys =
    secretHashKeysFile === undefined ? settings.secretHashKeys : await readKeyFile(secretHashKeysFile)
  // Until the addresses have been printed, or the start has failed.
  using log = holdLog()
  const options = checkOptions({
    ...settings,
    secretHashKeys,
    portal: true,
    logger: createServiceLogger(logLevel, log),
    clock: systemClock,
  })
  const service = await serveTokenService(options)

  stopOnSignal(service, drainSeconds, print)
  const url = options.publicUrl ?? service.authUrl
  // A table, whose links can be longer than a line.
  const show = (what: string, where: string) => void process.stderr.write(`  ${what.padEnd(23)}  ${where}\n`)
  print(`Tokenwell ${version} is listening on ${service.authUrl}\n`)
  show('Portal', `${url}/portal`)
  show('API reference', `${url}/reference`)
  show('Storage', describeStorage(options.storage))
  if (service.adminUrl !== undefined) {
    show(options.metrics ? 'Administration, metrics' : 'Administration', service.adminUrl)
  }
  if (service.sandboxUrl !== undefined) show('Sandbox', service.sandboxUrl)
  // These wait for the storage.
  const setupLink = await service.createSetupLink()
  if (setupLink !== undefined) show('First administrator', `${setupLink} (within 15 minutes)`)
  if (passwordLink !== undefined) {
    const link = await service.createPasswordLink(passwordLink).catch(async (error: unknown) => {
      await service.close()
      throw error
    })
    show(`New password of ${passwordLink}`, `${link} (within 15 minutes)`)
  }
  print('')
}

function describeStorage(location: StorageLocation): string {
  switch (location.kind) {
    case 'memory':
      return 'memory: everything is lost when the service stops'
    case 'sqlite':
      return `SQLite, ${location.file}`
    case 'postgres':
      return `PostgreSQL, ${new URL(location.url).host}`
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
