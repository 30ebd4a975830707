// Packs every public package, and unpacks it into `.packed`; this workspace installs it from there.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const packed = fileURLToPath(new URL('.packed/', import.meta.url))
const run = promisify(execFile)

rmSync(packed, { recursive: true, force: true })
const published = readdirSync(packages).filter((name) => {
  const manifest = join(packages, name, 'package.json')
  if (!existsSync(manifest)) return false
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly private?: boolean }).private !== true
})
await Promise.all(
  published.map(async (name) => {
    mkdirSync(join(packed, name), { recursive: true })
    const tarball = join(packed, `${name}.tgz`)
    await run('pnpm', ['pack', '--out', tarball], { cwd: join(packages, name) })
    await run('tar', ['-xzf', tarball, '-C', join(packed, name), '--strip-components', '1'])
  }),
)
