import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TokenProvider } from '@tokenwell/core'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { decodeProtectedHeader, exportPKCS8, generateKeyPair } from 'jose'
import { expect, it, onTestFinished } from 'vitest'

it('runs the example in the README', async () => {
  const server = await startScriptedServer(() =>
    json({ access_token: 'a-token', token_type: 'Bearer', expires_in: 3_600 }),
  )
  onTestFinished(() => server.close())
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const folder = await mkdtemp(join(tmpdir(), 'readme-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'key.pem'), await exportPKCS8(privateKey))
  const { tokens } = await runReadmeExample(new URL('../', import.meta.url), {
    TOKEN_ENDPOINT: `${server.origin}/token`,
    API_URL: server.origin,
    CLIENT_ID: 'client',
    PRIVATE_KEY_FILE: join(folder, 'key.pem'),
    KEY_ID: 'key-1',
  })
  const token = await (tokens as TokenProvider).getToken()
  expect(token.value).toBe('a-token')
  const assertion = new URLSearchParams(server.requests[0]!.body).get('client_assertion')!
  expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: 'ES256', kid: 'key-1' })
})
