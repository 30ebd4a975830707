import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

test('the first load transfers less than 100 kB', async () => {
  const folder = fileURLToPath(new URL('../../dist/page', import.meta.url))
  const files = (await readdir(folder, { recursive: true })).filter((name) =>
    /\.(?:html|js|css|svg)$/.test(name),
  )
  const sizes = await Promise.all(
    files.map(async (name) => gzipSync(await readFile(`${folder}/${name}`)).length),
  )
  expect(files.some((name) => name.endsWith('.js'))).toBe(true)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000)
})
