import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { copies } from '../copies.ts'

const root = join(import.meta.dirname, '../../..')

it.each([...copies()])('is copied as it is generated: %s', (path, content) => {
  // If this fails: node tools/design/generate.ts
  expect(readFileSync(join(root, path)).equals(content)).toBe(true)
})
