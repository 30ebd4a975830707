// `pnpm test [TURBO OPTION…]`: runs all tests. Turbo keeps the results; those of tests that were skipped for a missing program
// must not be kept once it is installed, so what the tests find on the machine is a part of what turbo compares.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const programs = [
  'chromium',
  'curl',
  'espeak-ng',
  'flite',
  'go',
  'nginx',
  'openssl',
  'perl',
  'pgbouncer',
  'pocketsphinx_continuous',
  'postgres',
  'python3',
  'redis-server',
  'ruby',
]
const folders = (process.env['PATH'] ?? '').split(delimiter)
const found = programs.filter((name) =>
  folders.some((folder) => existsSync(join(folder, name)) || existsSync(join(folder, `${name}.exe`))),
)
// Debian keeps some elsewhere, and libraries of Python and Ruby: this file changes with every package.
const packages = statSync('/var/lib/dpkg/status', { throwIfNoEntry: false })?.mtime.toISOString()

const turbo = fileURLToPath(new URL('../node_modules/turbo/bin/turbo', import.meta.url))
const options = ['--concurrency=1', '--continue=dependencies-successful', ...process.argv.slice(2)]
const { status } = spawnSync(process.execPath, [turbo, 'run', 'test', 'test:integration', ...options], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TOKENWELL_TEST_PROGRAMS: [`node ${process.version}`, ...found, packages].filter(Boolean).join(' '),
  },
})
process.exitCode = status ?? 1
