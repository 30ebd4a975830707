// Writes the design beside each page that is built from it: at each build and test run, so that it is never old.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copies } from './copies.ts'

const root = join(import.meta.dirname, '../..')

for (const [path, content] of copies()) {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file).equals(content)) continue
  mkdirSync(dirname(file), { recursive: true })
  // Another build may write it at the same time.
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, file)
}
