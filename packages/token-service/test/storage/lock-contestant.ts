import { openTestSqlite } from './open-test-storage.ts'

/** A database that nothing refers to is garbage, and its lock goes with it. */
const kept: object[] = []

// A process that tries to open the database file that it receives, and keeps it open until it is killed.
process.on('message', (file: string) => {
  openTestSqlite(file).then(
    (storage) => {
      kept.push(storage)
      process.send?.({ pid: process.pid, isOpen: true })
    },
    (error: Error) => process.send?.({ pid: process.pid, isOpen: false, message: error.message }),
  )
})
process.send?.('ready')
