import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertionFromFile, privateKeyJwt } from '@tokenwell/client-authentication'
import { clientCredentials, type ClientAuthentication } from '@tokenwell/core'
import { createFakeClock } from '@tokenwell/core/testing'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { decodeProtectedHeader, exportJWK, generateKeyPair, type JWK } from 'jose'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

/** A server that accepts assertions for which a test says so. */
async function start(clientAuthentication: ClientAuthentication, accepts: (assertion: string) => boolean) {
  const server = await startScriptedServer(({ body }) =>
    accepts(new URLSearchParams(body).get('client_assertion')!)
      ? json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 })
      : json({ error: 'invalid_client' }, 401),
  )
  onTestFinished(() => server.close())
  const clock = createFakeClock()
  const tokens = clientCredentials({
    tokenEndpoint: `${server.origin}/token`,
    clientId: 'client',
    clientAuthentication,
    clock,
    maxAttempts: 1,
  })
  const getMany = () => Promise.all(Array.from({ length: 1_000 }, () => tokens.getToken()))
  return { server, clock, tokens, getMany }
}

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`

describe('after a rejection', () => {
  it('ends the cooldown at the first call, with one request, after an assertion file with the same subject was replaced', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'assertion-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'token')
    const [expired, valid] = [1, 2].map((exp) => jwt({ iss: 'https://cluster', sub: 'orders', exp }))
    await writeFile(file, expired!)
    const { server, clock, tokens, getMany } = await start(assertionFromFile(file), (each) => each === valid)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    await expect(getMany()).rejects.toMatchObject({ kind: 'credentials' })
    clock.advance(999)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    expect(server.requests).toHaveLength(1)
    // Still in the cooldown, which the second failure made 30 s long.
    clock.advance(1)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    expect(server.requests).toHaveLength(2)
    clock.advance(2_000)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    await writeFile(file, valid!)
    clock.advance(1_000)
    await getMany()
    expect(server.requests).toHaveLength(3)
  })

  it('tries a file that is replaced during a request that is rejected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'assertion-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'token')
    await writeFile(file, 'old')
    const { server, tokens } = await start(assertionFromFile(file), (each) => each === 'new')
    const { respond } = server
    server.respond = async (request) => {
      await writeFile(file, 'new')
      return respond(request)
    }
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
    expect(server.requests).toHaveLength(2)
  })

  it.each(['another key', 'another key ID'])(
    '%s ends the cooldown at the first call, with one request',
    async (what) => {
      const create = async (kid: string): Promise<JWK> => ({
        ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)),
        kid,
      })
      let key = await create('old')
      const accepts = (assertion: string) => decodeProtectedHeader(assertion).kid === 'new'
      const { server, clock, tokens, getMany } = await start(privateKeyJwt({ key: () => key }), accepts)
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      clock.advance(500)
      key = what === 'another key' ? await create('new') : { ...key, kid: 'new' }
      const sign = vi.spyOn(crypto.subtle, 'sign')
      onTestFinished(() => sign.mockRestore())
      await getMany()
      expect(server.requests).toHaveLength(2)
      expect(sign).toHaveBeenCalledTimes(1)
    },
  )
})
