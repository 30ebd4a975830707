import { runDemo } from './command/run-demo.ts'

process.exitCode = await runDemo()
