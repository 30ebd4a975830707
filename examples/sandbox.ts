// Tests that start their own token service and control its failures.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { clientCredentials, type TokenError } from '@tokenwell/core'
import {
  startTokenService,
  type RunningTokenService,
} from '@tokenwell/token-service'

const credentials = { clientId: 'id', clientSecret: 'secret' }
let service: RunningTokenService

before(async () => {
  service = await startTokenService({
    applications: [{ name: 'test', ...credentials }],
    sandbox: true,
  })
})
beforeEach(() => sandbox('/reset', {}))
after(() => service.close())

async function sandbox(path: string, body?: object): Promise<Response> {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  return fetch(`${service.sandboxUrl}${path}`, body && post)
}

function createTokens(options = {}) {
  return clientCredentials({ authUrl: service.authUrl, ...credentials, ...options })
}

test('a hundred callers share one token request', async () => {
  await using tokens = createTokens()
  await Promise.all(Array.from({ length: 100 }, () => tokens.getToken()))
  const journal = (await (await sandbox('/journal')).json()) as { total: number }
  assert.equal(journal.total, 1)
})

test('retries after one failure of the token service', async () => {
  await sandbox('/faults', { requests: 1, status: 503 })
  await using tokens = createTokens()
  assert.ok(await tokens.getToken())
})

test('reports a wrong secret', async () => {
  await using tokens = createTokens({ clientSecret: 'wrong' })
  await assert.rejects(
    tokens.getToken(),
    (error: TokenError) => error.kind === 'credentials',
  )
})

test('does not return a rejected token again', async () => {
  await using tokens = createTokens()
  const first = await tokens.getToken()
  tokens.reject(first)
  const second = await tokens.getToken()
  assert.notEqual(second.value, first.value)
})
