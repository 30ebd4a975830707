import { describe, expect, it } from 'vitest'
import { createKeyring, createRandomKey, sameHash } from '../../src/secret-hashing/keyring.ts'

const [newest, older] = [createRandomKey(), createRandomKey()]

describe('a keyring', () => {
  it('finds no match in a stored hash of the wrong length', () => {
    expect(sameHash('', Buffer.alloc(32))).toBe(false)
    expect(sameHash(Buffer.alloc(31).toString('base64url'), Buffer.alloc(32))).toBe(false)
  })

  it('hashes with the newest key, and compares with every key', () => {
    const before = createKeyring([older]).hash('secret')
    const keyring = createKeyring([newest, older])
    const after = keyring.hash('secret')
    expect(after.keyId).not.toBe(before.keyId)
    const presented = keyring.hashes('secret')
    for (const stored of [before, after]) {
      expect(sameHash(stored.hash, presented.get(stored.keyId) ?? Buffer.alloc(0))).toBe(true)
    }
    const wrong = keyring.hashes('Secret')
    for (const stored of [before, after]) {
      expect(sameHash(stored.hash, wrong.get(stored.keyId) ?? Buffer.alloc(0))).toBe(false)
    }
  })

  it('does not match secrets of a removed key', () => {
    const { keyId } = createKeyring([older]).hash('secret')
    expect(createKeyring([newest]).hashes('secret').has(keyId)).toBe(false)
  })

  it('creates different hashes with different keys', () => {
    expect(createKeyring([newest]).hash('secret').hash).not.toBe(createKeyring([older]).hash('secret').hash)
  })

  it('requires long keys, and does not print a short one', () => {
    expect(() => createKeyring(['canary'])).toThrow(/6 characters.*32 or more/)
    expect(() => createKeyring(['canary'])).not.toThrow(/canary/)
    expect(() => createKeyring([])).toThrow(/keys is empty/)
  })
})
