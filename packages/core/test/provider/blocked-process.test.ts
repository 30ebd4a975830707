import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenProvider } from '@tokenwell/core'
import { expect, it, onTestFinished } from 'vitest'
import { ScriptedEndpoint, sourceOf, wrongSecret } from '../support/scripted-endpoint.ts'

it('notices a changed secret although the process was blocked for longer than the check may take', async () => {
  const file = join(tmpdir(), crypto.randomUUID())
  onTestFinished(() => rm(file))
  await writeFile(file, 'old')
  const endpoint = new ScriptedEndpoint(wrongSecret)
  const source = sourceOf(endpoint, { clientSecret: () => readFile(file, 'utf8') })
  let time = 0
  const clock = { now: () => time, monotonic: () => time }
  const tokens = createTokenProvider(source, { clock })
  for (let rejection = 1; rejection <= 2; rejection++) {
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    time += 1_000
  }
  await writeFile(file, 'new')
  endpoint.script = () => ({})
  const call = tokens.getToken()
  const until = performance.now() + 1_100
  while (performance.now() < until);
  await expect(call).resolves.toMatchObject({ value: expect.any(String) })
})
