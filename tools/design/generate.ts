// Writes the copies of the design: `node tools/design/generate.ts`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copies } from './copies.ts'

const root = join(import.meta.dirname, '../..')

for (const [path, content] of copies()) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}
