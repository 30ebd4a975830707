import { randomBytes } from 'node:crypto'
import type { TokenResponse } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { createEntryFormat, type EntryFormatOptions, type FoundEntries } from '@tokenwell/token-stores'

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
    const token = encode()
    expect(token.startsWith('an-id.')).toBe(true)
    expect(await readToken(token)).toEqual({ id: 'an-id', response: content, remainingMs: 500 })
    const cooldown = format.encode('key', 'cooldown', {
      id: 'other',
      expiresAt: now + 9,
      content: error,
    })
    expect(format.read('key', [{ now, cooldown }])).toEqual({ error, cooldownMs: 9 })
    expect(format.read('key', [{ now, token, cooldown }])).toMatchObject({ id: 'an-id', cooldownMs: 9 })
  })

  it('concerns its own key alone if it cannot be encoded', () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    for (const extra of [{ count: 1n }, circular]) {
      const entry = { id: 'an-id', expiresAt: now, content: { ...content, extra } }
      expect(() => formatWith(keys).format.encode('key', 'token', entry)).toThrow(
        expect.objectContaining({ scope: 'key' }) as Error,
      )
    }
  })

  it('is missing once it has expired', async () => {
    const { encode, readToken, unreadable } = formatWith(keys)
    expect(await readToken(encode(now))).toBeUndefined()
    expect(unreadable).toEqual([])
  })

  it('is missing if the store has none, as null or undefined', async () => {
    const { format, unreadable } = formatWith(keys)
    expect(format.read('key', [{ now, token: null, cooldown: undefined }])).toBeUndefined()
    expect(unreadable).toEqual([])
  })

  it.each(['garbage', 'an-id.soon.{}', `an-id.${'1'.repeat(16)}.{}`, `${'x'.repeat(81)}.1500.{}`])(
    'is reported if it is not an entry: %s',
    async (value) => {
      const { format, readToken, unreadable } = formatWith(keys)
      const [name] = format.names('key')
      expect(await readToken(value)).toBeUndefined()
      expect(unreadable).toEqual([`${name}:token`])
    },
  )

  it('is missing if it is not an entry and there is no listener', async () => {
    const format = createEntryFormat({ store: 'test store', encryptionKeys: keys })
    expect(format.read('key', [{ now, token: 'garbage' }])).toBeUndefined()
  })
})

const complete: Required<Omit<TokenResponse, 'extra' | 'refreshIn'>> = {
  accessToken: 'the-token',
  tokenType: 'DPoP',
  expiresIn: 3600,
  issuedAt: new Date('2026-03-01T12:00:00Z'),
  scope: ['read', 'write'],
  clientId: 'client',
  applicationName: 'application',
  organizationName: 'organization',
  developerEmail: 'developer@example.com',
  status: 'approved',
  refreshToken: 'refresh',
  refreshTokenExpiresIn: 7200,
  refreshCount: 1,
  level: 'gold',
  apiProducts: ['sms', 'speech to text'],
}

describe('a token', () => {
  it('keeps every member of its response', async () => {
    const { format, readToken } = formatWith()
    const token = format.encode('key', 'token', { id: 'id', expiresAt: now + 9, content: complete })
    expect(await readToken(token)).toEqual({ id: 'id', response: complete, remainingMs: 9 })
  })
})

describe('a cooldown', () => {
  const read = async (text: string) => {
    const { format, unreadable } = formatWith()
    const found = format.read('key', [{ now, cooldown: text }])
    return unreadable.length > 0 ? 'unreadable' : found
  }

  it.each(['credentials', 'configuration', 'throttled', 'unavailable', 'malformed', 'aborted'] as const)(
    'of kind %s is read as it was written',
    async (kind) => {
      const failure = {
        kind,
        message: 'The request failed.',
        status: 401,
        oauthError: 'invalid_client',
        vendorCode: 'vendor.Code-1',
        retryAfterMs: 0,
        attempts: 2,
        failures: 3,
      }
      const { format } = formatWith()
      const entry = { id: 'id', expiresAt: now + 9, content: failure }
      expect(await read(format.encode('key', 'cooldown', entry))).toEqual({
        error: failure,
        cooldownMs: 9,
      })
    },
  )

  it.each([
    ['status', '401'],
    ['status', -1],
    ['retryAfterMs', null],
    ['oauthError', ''],
    ['oauthError', 42],
    ['oauthError', 'x'.repeat(81)],
    ['vendorCode', ' padded'],
    ['vendorCode', 'padded '],
    ['other', 'text'],
  ])('is read without an invalid or unknown member: %s: %j', async (name, value) => {
    const facts = { kind: 'credentials', message: 'Rejected' }
    const text = JSON.stringify({ ...facts, [name]: value })
    expect(await read(`id.1009.${text}`)).toEqual({ error: facts, cooldownMs: 9 })
  })

  it.each([
    'null',
    '{}',
    '{"kind":"credentials"}',
    '{"kind":"credentials","message":["a list"]}',
    '{"kind":"other","message":"text"}',
    '{"message":"text"}',
  ])('is unreadable if its content is invalid: %s', async (text) => {
    expect(await read(`id.1009.${text}`)).toBe('unreadable')
  })

  it('is unreadable if its ID and expiry are not at the start', async () => {
    expect(await read(`!!!!!!!!{"kind":"credentials","message":"id.1009."}`)).toBe('unreadable')
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
    expect(plain.names('a cache key')).toEqual(['y6WKHEI8r5kna6U2lqzOOhSooy0AgtOh7MEodu_yp7Q'])
    const { format } = formatWith([fixedKey], store)
    expect(format.names('a cache key')).toEqual(['vL8zdPAS.8TUysOn2Yt2O5qsaAvLctg5bD7V5__M_g9Cp07an0-w'])
  })

  it('reads an encrypted entry of every other version', async () => {
    const { format } = formatWith([fixedKey], store)
    expect(format.read('a cache key', [{ now, token: encrypted }])).toEqual({
      id: 'an-id',
      response: content,
      remainingMs: 500,
    })
  })

  it('writes entries as every other version does', async () => {
    const { format } = formatWith()
    const token: Required<TokenResponse> = {
      ...complete,
      tokenType: 'Bearer',
      refreshIn: 1800,
      extra: { instance_url: 'https://example.com' },
    }
    expect(format.encode('key', 'token', { id: 'id', expiresAt: 9, content: token })).toBe(
      'id.9.{"instance_url":"https://example.com","access_token":"the-token","token_type":"Bearer",' +
        '"expires_in":3600,"refresh_in":1800,"issued_at":1772366400000,"scope":["read","write"],' +
        '"client_id":"client","application_name":"application","organization_name":"organization",' +
        '"developer_email":"developer@example.com","status":"approved","refresh_token":"refresh",' +
        '"refresh_token_expires_in":7200,"refresh_count":1,"level":"gold",' +
        '"api_product_list_json":["sms","speech to text"]}',
    )
    const cooldown = {
      kind: 'credentials',
      message: 'Rejected.',
      status: 401,
      oauthError: 'invalid_client',
      vendorCode: 'vendor.Code-1',
      retryAfterMs: 1_000,
      attempts: 2,
      failures: 3,
    } as const
    expect(format.encode('key', 'cooldown', { id: 'id', expiresAt: 9, content: cooldown })).toBe(
      'id.9.{"kind":"credentials","message":"Rejected.","status":401,"oauthError":"invalid_client",' +
        '"vendorCode":"vendor.Code-1","retryAfterMs":1000,"attempts":2,"failures":3}',
    )
  })

  it('keeps 500 characters of the message of a cooldown', async () => {
    const { format } = formatWith()
    const long = { kind: 'unavailable', message: 'x'.repeat(600) } as const
    const cooldown = format.encode('key', 'cooldown', { id: 'id', expiresAt: now + 9, content: long })
    expect(format.read('key', [{ now, cooldown }])).toMatchObject({
      error: { message: 'x'.repeat(500) },
    })
  })
})

describe('encryption', () => {
  it('hides tokens and cache keys', async () => {
    const { format, encode } = formatWith([key])
    expect(encode()).not.toContain('the-token')
    expect(Buffer.from(encode().split('.')[2]!, 'base64url').toString()).not.toContain('the-token')
    expect(format.names('key')).not.toEqual(formatWith().format.names('key'))
  })

  it('binds an entry to its cache key, kind, expiry and kind of store', async () => {
    const token = formatWith([key]).encode()
    const { format, readToken } = formatWith([key])
    expect(await readToken(token.replace(String(now + 500), String(now + 900)))).toBeUndefined()
    expect(format.read('other key', [{ now, token }])).toBeUndefined()
    expect(format.read('key', [{ now, cooldown: token }])).toBeUndefined()
    expect(await formatWith([key], 'other store').readToken(token)).toBeUndefined()
  })

  it('reads entries of an older key during a rotation, and prefers the token that lasts longer', async () => {
    const old = formatWith([otherKey]).encode(now + 900)
    const { format, readToken, encode } = formatWith([key, otherKey])
    expect(format.names('key')).toEqual([
      ...formatWith([key]).format.names('key'),
      ...formatWith([otherKey]).format.names('key'),
    ])
    expect(await readToken(undefined, old)).toMatchObject({ remainingMs: 900 })
    expect(await readToken(encode(now + 500), old)).toMatchObject({ remainingMs: 900 })
  })

  it('rejects a changed entry, even one that decodes to the same bytes', async () => {
    const { encode, readToken } = formatWith([key])
    const token = encode()
    expect(await readToken(token)).toBeDefined()
    for (const changed of [`${token}=`, `${token} `, token.slice(0, -2), token.replace(/.$/, '!')])
      expect(await readToken(changed)).toBeUndefined()
  })

  it('accepts keys as bytes, in base64 and in base64url', async () => {
    const bytes = Buffer.alloc(32, 0xfb)
    const [expected] = formatWith([bytes]).format.names('key')
    for (const encoding of ['base64', 'base64url'] as const)
      expect(formatWith([bytes.toString(encoding)]).format.names('key')).toEqual([expected])
  })

  const valid = Buffer.alloc(32).toString('base64')
  const keyError = (index: number, found: string) =>
    `encryptionKeys[${index}] must be 32 bytes, as a Uint8Array or in base64 (openssl rand -base64 32), but it ${found}.`
  const emptyError =
    'encryptionKeys is empty. Pass at least one key, or omit the option to store tokens as plain text.'

  it.each([
    [[], emptyError],
    [key, 'encryptionKeys must be a list of keys.'],
    [valid, 'encryptionKeys must be a list of keys.'],
    [['cafe'], keyError(0, 'has 3')],
    [[key, new Uint8Array(31)], keyError(1, 'has 31')],
    [[null], keyError(0, 'is null')],
    [[42], keyError(0, 'is of type number')],
    [[`!${valid}`], keyError(0, 'is not base64')],
    [[`${valid}!`], keyError(0, 'is not base64')],
  ])('rejects the keys %j', (keys, message) => {
    expect(() => formatWith(keys as never)).toThrow(
      expect.objectContaining({ kind: 'configuration', message }),
    )
  })
})
