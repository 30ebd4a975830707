import { randomBytes } from 'node:crypto'
import type { TokenResponse } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { createEntryFormat, type EntryFormatOptions, type FoundEntries } from '@tokenwell/stored-entries'

const [key, otherKey] = [randomBytes(32), randomBytes(32)]
const content: TokenResponse = { accessToken: 'the-token', tokenType: 'Bearer', scope: ['read'] }
const error = { kind: 'credentials', message: 'The client is not known' } as const
const now = 1_000

function formatWith(encryptionKeys?: EntryFormatOptions['encryptionKeys'], store = 'test store') {
  const unreadable: string[] = []
  const onUnreadable = (name: string, kind: string) => void unreadable.push(`${name}:${kind}`)
  const format = createEntryFormat({ store, encryptionKeys, onUnreadable })
  const readToken = async (...tokens: (string | undefined)[]) =>
    format.read(
      'key',
      tokens.map((token): FoundEntries => ({ now, token })),
    )
  const encode = (expiresAt = now + 500) => format.encode('key', 'token', { id: 'an-id', expiresAt, content })
  return { format, unreadable, readToken, encode }
}

describe.each([
  ['plain text', undefined],
  ['encrypted', [key]],
])('an entry, %s', (_name, keys) => {
  it('is read as it was written, with its remaining time', async () => {
    const { format, encode, readToken } = formatWith(keys)
    const token = await encode()
    expect(token.startsWith('an-id.')).toBe(true)
    expect(await readToken(token)).toEqual({ id: 'an-id', response: content, remainingMs: 500 })
    const cooldown = await format.encode('key', 'cooldown', {
      id: 'other',
      expiresAt: now + 9,
      content: error,
    })
    expect(await format.read('key', [{ now, cooldown }])).toEqual({ error, cooldownMs: 9 })
    expect(await format.read('key', [{ now, token, cooldown }])).toMatchObject({ id: 'an-id', cooldownMs: 9 })
  })

  it('is missing once it has expired', async () => {
    const { encode, readToken, unreadable } = formatWith(keys)
    expect(await readToken(await encode(now))).toBeUndefined()
    expect(unreadable).toEqual([])
  })

  it('is reported if it is not an entry', async () => {
    const { format, readToken, unreadable } = formatWith(keys)
    const [name] = await format.names('key')
    expect(await readToken('garbage')).toBeUndefined()
    expect(unreadable).toEqual([`${name}:token`])
  })
})

describe('the format', () => {
  // Other versions of the package share these entries: a change splits a fleet during its upgrade.
  const store = 'redis store'
  const fixedKey = new Uint8Array(32).fill(1)
  const encrypted =
    'an-id.1500.VKNlWPPJWQ_f_U1UWy2Vk7picJ8Al8JOQokB9b74NnDBJ7kQUJfP8fBokFvs77ZRkFzTNjsKlJHXZe5UyxVYJfXK1_iF-tRFEhekJPgJ2on50AfokdUJQeoYLRHtxV0'

  it('names entries as every other version does', async () => {
    const { format: plain } = formatWith(undefined, store)
    expect(await plain.names('a cache key')).toEqual(['y6WKHEI8r5kna6U2lqzOOhSooy0AgtOh7MEodu_yp7Q'])
    const { format } = formatWith([fixedKey], store)
    expect(await format.names('a cache key')).toEqual([
      'vL8zdPAS.8TUysOn2Yt2O5qsaAvLctg5bD7V5__M_g9Cp07an0-w',
    ])
  })

  it('reads an encrypted entry of every other version', async () => {
    const { format } = formatWith([fixedKey], store)
    expect(await format.read('a cache key', [{ now, token: encrypted }])).toEqual({
      id: 'an-id',
      response: content,
      remainingMs: 500,
    })
  })

  it('keeps 500 characters of the message of a cooldown', async () => {
    const { format } = formatWith()
    const long = { kind: 'unavailable', message: 'x'.repeat(600) } as const
    const cooldown = await format.encode('key', 'cooldown', { id: 'id', expiresAt: now + 9, content: long })
    expect(await format.read('key', [{ now, cooldown }])).toMatchObject({
      error: { message: 'x'.repeat(500) },
    })
  })
})

describe('encryption', () => {
  it('hides tokens and cache keys', async () => {
    const { format, encode } = formatWith([key])
    expect(await encode()).not.toContain('the-token')
    expect(Buffer.from((await encode()).split('.')[2]!, 'base64url').toString()).not.toContain('the-token')
    expect(await format.names('key')).not.toEqual(await formatWith().format.names('key'))
  })

  it('binds an entry to its cache key, kind, expiry and kind of store', async () => {
    const token = await formatWith([key]).encode()
    const { format, readToken } = formatWith([key])
    expect(await readToken(token.replace(String(now + 500), String(now + 900)))).toBeUndefined()
    expect(await format.read('other key', [{ now, token }])).toBeUndefined()
    expect(await format.read('key', [{ now, cooldown: token }])).toBeUndefined()
    expect(await formatWith([key], 'other store').readToken(token)).toBeUndefined()
  })

  it('reads entries of an older key during a rotation, and prefers the token that lasts longer', async () => {
    const old = await formatWith([otherKey]).encode(now + 900)
    const { format, readToken, encode } = formatWith([key, otherKey])
    expect(await format.names('key')).toHaveLength(2)
    expect(await readToken(undefined, old)).toMatchObject({ remainingMs: 900 })
    expect(await readToken(await encode(now + 500), old)).toMatchObject({ remainingMs: 900 })
  })

  it.each([[[]], [['short']], [[null]]])('rejects the keys %j', (keys) => {
    expect(() => formatWith(keys as never)).toThrow(expect.objectContaining({ kind: 'configuration' }))
  })
})
