// node run-smoke.mjs <the published file> <origin of the smoke server>; also for Deno and Bun.
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { smoke } from './smoke.mjs'

const [file, origin] = process.argv.slice(2)
const core = await import(pathToFileURL(file).href)
const done = await smoke(core, origin)
process.stdout.write(JSON.stringify(done))
process.exit(0)
