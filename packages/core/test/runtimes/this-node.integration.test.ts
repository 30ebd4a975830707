import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { buildCore } from '../package/built-core.ts'
import { startSmokeServer } from './smoke-server.ts'

it('the published file passes the smoke test in this version of Node', { timeout: 60_000 }, async () => {
  const { chunks, file } = await buildCore()
  const origin = await startSmokeServer(chunks)
  const script = fileURLToPath(new URL('run-smoke.mjs', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, file, origin])
  expect(JSON.parse(stdout)).toHaveLength(12)
  expect(stderr).toBe('')
})
