#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// From the second start on, what is imported after this is not compiled again.
enableCompileCache()
const { runCommand } = await import('./run-command.ts')
await runCommand(process.argv)
