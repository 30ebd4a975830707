import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Runs what a busy machine can disturb, up to three times, until it was not disturbed. Otherwise the last lines of CI say that
 * it was not measured, and in the nightly run it fails: a test that asserted nothing must not look like one that passed.
 */
export async function measure<T extends { readonly keptUp: boolean }>(
  title: string,
  attempt: () => Promise<T>,
): Promise<T> {
  let result = await attempt()
  for (let repeats = 0; !result.keptUp && repeats < 2; repeats++) result = await attempt()
  if (!result.keptUp) reportNotMeasured(title)
  return result
}

function reportNotMeasured(title: string): void {
  const line = `not measured, because the machine was busy: ${title}\n`
  if (process.env['TOKENWELL_SOAK']) throw new Error(line)
  process.stdout.write(line)
  // The folder of the package whose script runs.
  const { npm_lifecycle_event: script = '', npm_package_json: manifest = '' } = process.env
  if (!script.startsWith('test')) return
  const folder = join(dirname(manifest), 'test-results')
  mkdirSync(folder, { recursive: true })
  appendFileSync(join(folder, 'not-measured.txt'), line)
}
