import { SettingError } from '../runtime/setting.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { SchemaMismatch } from '../storage/storage-failure.ts'
import { sendAdminRequest } from './send-admin-request.ts'
import { unknownVariables, waysToSet } from './command-settings.ts'
import { parseCommandLine, print, type StorageTask } from './parse-command-line.ts'
import { backupStorage, restoreStorage, type StorageLocation } from '../storage/open-database.ts'
import { runService } from './run-service.ts'

/** Does what the command line requests; exits with 2 on a usage error, and with 1 if something else prevents it. */
export async function runCommand(args: readonly string[]): Promise<void> {
  // A service whose messages nobody reads any more goes on.
  process.stderr.on('error', () => {})
  for (const name of unknownVariables(process.env))
    print(`warning: ${name} is set, but is not read. \`tokenwell-service --help\` lists the variables.`)
  try {
    const commandLine = await parseCommandLine(args)
    if ('request' in commandLine) {
      // `tokenwell-service admin audit | head -1` closes the pipe early, which is not an error.
      process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'EPIPE') process.exit(0)
        print(`tokenwell-service: The output cannot be written (${code}).`)
        process.exit(1)
      })
      for await (const text of sendAdminRequest(commandLine.request, commandLine.environment))
        process.stdout.write(text)
    } else {
      const { task, configuration } = commandLine
      await (task ? runStorageTask(task, configuration.storage) : runService(commandLine, print))
    }
  } catch (error) {
    const isUsageError = error instanceof UsageError
    print(
      `tokenwell-service: ${isUsageError ? error.message : error instanceof Error ? error.stack : String(error)}`,
    )
    if (error instanceof SettingError) {
      print(`→ ${waysToSet(error.setting) ?? '`tokenwell-service --help` lists the settings.'}`)
    }
    process.exit(isUsageError && !(error instanceof SchemaMismatch) ? 2 : 1)
  }
}

/** Backs up or restores the database, without a service. */
async function runStorageTask({ action, file }: StorageTask, location: StorageLocation): Promise<void> {
  const keys = location.kind === 'sqlite' ? `${location.file}.keys` : undefined
  if (action === 'backup') {
    await backupStorage(location, file)
    print(
      `The backup is in ${file}. Keep a copy of the keys too: without them, the service does not start. Unless you configured keys, they are in ${keys}.`,
    )
  } else {
    await restoreStorage(location, file)
    print(
      keys === undefined
        ? 'The database has been restored. Start the service with the keys of the SQLite database, such as --secret-hash-keys-file.'
        : `The database has been restored. Before you start the service, put its keys in ${keys}, or configure them.`,
    )
  }
}
