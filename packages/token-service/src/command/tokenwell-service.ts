#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from 'node:module'

// From the second start on, what is imported after this is not compiled again.
enableCompileCache()
const { runCommand } = await import('./run-command.ts')
await runCommand(process.argv)
// Otherwise a service that is killed would leave nothing for the next start.
flushCompileCache()
