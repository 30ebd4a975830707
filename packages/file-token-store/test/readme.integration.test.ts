import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AccessToken } from '@tokenwell/core'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { useTestServers } from '@tokenwell/testing'
import { expect, it, onTestFinished } from 'vitest'

const servers = useTestServers()

it('shares the token of the example in the README between two runs', async () => {
  const state = mkdtempSync(join(tmpdir(), 'tokenwell-files-'))
  onTestFinished(() => rmSync(state, { recursive: true }))
  const run = async () => {
    const { token } = await runReadmeExample(new URL('../', import.meta.url), {
      XDG_STATE_HOME: state,
      AUTH_URL: servers.endpoint.origin,
      CLIENT_ID: 'a-client',
      CLIENT_SECRET: 'a-secret',
    })
    return (token as AccessToken).value
  }
  const first = await run()
  expect(await run()).toBe(first)
  expect(servers.endpoint.issued).toStrictEqual([first])
})
