// `pnpm check:static`: runs all of its steps, also after one has failed, and names those that failed at the end.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const steps = [
  'node tools/check-subjects.mjs',
  'pnpm exec oxfmt --check',
  'pnpm exec turbo run lint lint:root build typecheck --continue',
  'pnpm --dir tools install --filter tokenwell-release',
  'pnpm --dir tools/release run check',
]
const cwd = fileURLToPath(new URL('..', import.meta.url))
const failed = steps.filter((step) => {
  process.stdout.write(`\n> ${step}\n`)
  return spawnSync(step, { cwd, shell: true, stdio: 'inherit' }).status !== 0
})
if (failed.length > 0) {
  process.stderr.write(`\nFailed:\n${failed.map((step) => `  ${step}\n`).join('')}`)
  process.exitCode = 1
}
