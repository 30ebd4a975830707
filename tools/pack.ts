// `node tools/pack.ts [NAME…]`: builds and packs every public package, unpacks it into `.packed`, and installs the named
// parts of the workspace `tools`, which get the packages from there.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run-process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'packages')
const packed = join(root, 'tools/.packed')

await run(
  'pnpm',
  ['exec', 'turbo', 'run', 'build', '--filter', './packages/*', '--filter', 'tokenwell-examples'],
  {
    folder: root,
  },
)
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
    await run('pnpm', ['pack', '--out', tarball], { folder: join(packages, name) })
    await run('tar', ['-xzf', tarball, '-C', join(packed, name), '--strip-components', '1'], {
      folder: packed,
    })
  }),
)
const filters = process.argv.slice(2).flatMap((name) => ['--filter', name])
if (filters.length > 0)
  await run('pnpm', ['--dir', 'tools', 'install', '--no-frozen-lockfile', ...filters], {
    folder: root,
    timeoutMs: 20 * 60_000,
  })
