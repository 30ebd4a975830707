import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

test('the compressed script of the page is smaller than 150 kB', async () => {
  const assets = fileURLToPath(new URL('../../dist/page/assets', import.meta.url))
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'))
  const sizes = await Promise.all(
    scripts.map(async (name) => gzipSync(await readFile(`${assets}/${name}`)).length),
  )
  expect(scripts.length).toBeGreaterThan(0)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000)
})
