import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { assertionFromFile } from '@tokenwell/client-authentication'
import { clientCredentials } from '@tokenwell/core'
import { json, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assertion-'))
  return () => rm(folder, { recursive: true })
})

async function start(
  respond: ScriptedServer['respond'] = () =>
    json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
) {
  const server = await startScriptedServer(respond)
  onTestFinished(() => server.close())
  const tokens = clientCredentials({
    tokenEndpoint: `${server.origin}/token`,
    clientId: 'client',
    clientAuthentication: assertionFromFile(join(folder, 'token')),
    maxAttempts: 1,
  })
  return {
    tokens,
    assertions: () => server.requests.map(({ body }) => new URLSearchParams(body).get('client_assertion')),
  }
}

describe('assertionFromFile', () => {
  it('reads the file for each request, through links that are replaced, without its line break', async () => {
    const { tokens, assertions } = await start()
    for (const name of ['first', 'second']) {
      await writeFile(join(folder, name), `${name}-assertion\n`)
      await symlink(name, join(folder, 'next'))
      await rename(join(folder, 'next'), join(folder, 'token'))
      await tokens.getToken({ forceRefresh: true })
    }
    expect(assertions()).toEqual(['first-assertion', 'second-assertion'])
  })

  it.each([
    ['is missing', undefined, 'Could not read the assertion file'],
    ['is empty', '\n', 'is empty'],
  ])('names a file that %s', async (_name, content, message) => {
    if (content !== undefined) await writeFile(join(folder, 'token'), content)
    const { tokens, assertions } = await start()
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(assertions()).toEqual([])
  })

  it.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is half written', 'e30.e30'],
  ])('reads a file again that %s, as while it is replaced', async (_name, content) => {
    const file = join(folder, 'token')
    if (content !== undefined) await writeFile(file, content)
    const { tokens, assertions } = await start()
    const call = tokens.getToken()
    await setTimeout(20)
    await writeFile(file, 'e30.e30.c2ln')
    await call
    expect(assertions()).toEqual(['e30.e30.c2ln'])
  })

  it.each([
    ['was missing', undefined],
    ['was empty', ''],
  ])('ends the cooldown when a file that %s is there', async (_name, content) => {
    const file = join(folder, 'token')
    if (content !== undefined) await writeFile(file, content)
    const { tokens, assertions } = await start()
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'configuration' })
    await writeFile(file, 'e30.e30.c2ln')
    await tokens.getToken()
    expect(assertions()).toEqual(['e30.e30.c2ln'])
  })

  it.each([
    ['is off', 90_000, 401, 'invalid_client', true],
    ['is almost right', 2_000, 401, 'invalid_client', false],
    ['is off, but did not cause the error', 90_000, 503, 'temporarily_unavailable', false],
  ])('names a clock that %s: %d ms', async (_which, behindMs, status, error, isNamed) => {
    await writeFile(join(folder, 'token'), 'assertion')
    const { tokens } = await start(() => {
      const date = new Date(Date.now() + behindMs).toUTCString()
      return json({ error }, status, { date })
    })
    await expect(tokens.getToken()).rejects.toMatchObject({
      message: isNamed
        ? expect.stringMatching(/This machine's clock is (89|90|91) s behind the server's\./)
        : expect.not.stringContaining('clock'),
    })
  })

  it('identifies issuer and subject, which a new file does not change', async () => {
    const jwt = (claims: object) =>
      `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`
    const printOf = async (content: string) => {
      await writeFile(join(folder, 'token'), content)
      return assertionFromFile(join(folder, 'token')).fingerprint()
    }
    const first = await printOf(jwt({ iss: 'https://cluster', sub: 'orders', jti: '1' }))
    expect(await printOf(jwt({ iss: 'https://cluster', sub: 'orders', jti: '2' }))).toBe(first)
    expect(await printOf(jwt({ iss: 'https://cluster', sub: 'invoices' }))).not.toBe(first)
    expect(await printOf('opaque')).toContain(folder)
  })
})
