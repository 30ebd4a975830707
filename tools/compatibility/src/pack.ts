// Packs every public package, and unpacks it into `.packed`; this workspace installs it from there.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const packed = fileURLToPath(new URL('../.packed/', import.meta.url))

rmSync(packed, { recursive: true, force: true })
for (const name of readdirSync(packages)) {
  const manifest = join(packages, name, 'package.json')
  if (!existsSync(manifest)) continue
  if ((JSON.parse(readFileSync(manifest, 'utf8')) as { readonly private?: boolean }).private) continue
  mkdirSync(join(packed, name), { recursive: true })
  const tarball = join(packed, `${name}.tgz`)
  execFileSync('pnpm', ['pack', '--out', tarball], { cwd: join(packages, name), stdio: 'pipe' })
  execFileSync('tar', ['-xzf', tarball, '-C', join(packed, name), '--strip-components', '1'])
}
