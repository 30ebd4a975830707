import { backupStorage, restoreStorage, type StorageLocation } from '../storage/open-database.ts'

export interface StorageTask {
  readonly action: 'backup' | 'restore'
  readonly file: string
}

/** Backs up or restores the database, without a service. */
export async function runStorageTask(
  { action, file }: StorageTask,
  location: StorageLocation,
  print: (line: string) => void,
): Promise<void> {
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
