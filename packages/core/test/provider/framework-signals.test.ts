import { createTokenProvider } from '@tokenwell/core'
import { expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

it('passes on the errors with which Next.js controls rendering, without a retry or a cooldown', async () => {
  const signal = Object.assign(new Error('used no-store fetch'), { digest: 'DYNAMIC_SERVER_USAGE' })
  const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { error: signal } : {}))
  const tokens = createTokenProvider(sourceOf(endpoint))
  const first = watch(tokens.getToken())
  await pass(100)
  expect(first.error).toBe(signal)
  expect(endpoint.requests).toHaveLength(1)
  const second = watch(tokens.getToken())
  await pass(100)
  expect(second.value).toMatchObject({ tokenType: 'Bearer' })
})
