// The cases in Node, Bun and Deno, with the store in a file besides.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileTokenStore } from '@tokenwell/token-stores/file'
import { casesOf, clientIdsOf, failuresOf, storeCases } from './cases.js'

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-runtimes-'))
const inFile = storeCases('in a file', () =>
  createFileTokenStore({ folder, encryptionKeys: [randomBytes(32)] }),
)
const cases = { ...casesOf(process.env), ...Object.fromEntries(inFile) }
const failures = await failuresOf(cases, clientIdsOf(200))
await rm(folder, { recursive: true })
for (const failure of failures) console.error(failure)
console.log(`${Object.keys(cases).length - failures.length} of ${Object.keys(cases).length} cases passed`)
process.exit(failures.length > 0 ? 1 : 0)
