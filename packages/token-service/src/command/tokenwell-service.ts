#!/usr/bin/env node
import process from 'node:process'

// Older versions of Node cannot load the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 13)) {
  const { enableCompileCache, flushCompileCache } = await import('node:module')
  // From the second start on, what is imported after this is not compiled again.
  enableCompileCache()
  const { runCommand } = await import('./run-command.ts')
  await runCommand(process.argv)
  // Otherwise a service that is killed would leave nothing for the next start.
  flushCompileCache()
} else {
  process.stderr.write(
    `tokenwell-service requires Node 22.13 or later. This is Node ${process.versions.node}.\n`,
  )
  process.exitCode = 2
}
