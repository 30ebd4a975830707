#!/usr/bin/env node
// Imports nothing: older versions of Node cannot load the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 13)) {
  const { runProcess } = await import('./command-line.ts')
  await runProcess()
} else {
  process.stderr.write(`tokenwell requires Node 22.13 or later. This is Node ${process.versions.node}.\n`)
  process.exitCode = 2
}
