import { describe, expect, it } from 'vitest'
import { createKeyring, createRandomKey } from '../../src/runtime/keyring.ts'

const [newest, older] = [createRandomKey(), createRandomKey()]

describe('a keyring', () => {
  it('finds no match in a stored hash of the wrong length', () => {
    const keyring = createKeyring([newest])
    const { keyId, hash } = keyring.hash('secret')
    for (const wrong of ['', hash.slice(1)]) {
      expect(keyring.matching([{ keyId, hash: wrong }], 'secret')).toEqual([])
    }
  })

  // A change would invalidate every stored secret.
  it('hashes like every other version', () => {
    expect(createKeyring(['k'.repeat(32)]).hash('secret')).toEqual({
      keyId: '6d71fcc8',
      hash: '6tJWzLR6l9X079b02pBfA7eb-GUT0dgQSKUQHP8I264',
    })
  })

  it('hashes with the newest key, and compares with every key, each time', () => {
    const before = createKeyring([older]).hash('secret')
    const keyring = createKeyring([newest, older])
    const after = keyring.hash('secret')
    expect(after.keyId).not.toBe(before.keyId)
    const other = keyring.hash('other')
    for (let time = 0; time < 3; time += 1) {
      expect(keyring.matching([before, other, after], 'secret')).toEqual([before, after])
      expect(keyring.matching([before, other, after], 'Secret')).toEqual([])
      expect(keyring.matching([other], 'secret')).toEqual([])
    }
  })

  it('compares many secrets', () => {
    const keyring = createKeyring([newest])
    for (let count = 0; count < 10_100; count += 1) {
      const stored = keyring.hash(`secret ${count}`)
      expect(keyring.matching([stored], `secret ${count}`)).toEqual([stored])
    }
  })

  it('does not match secrets of a removed key', () => {
    const stored = createKeyring([older]).hash('secret')
    expect(createKeyring([newest]).matching([stored], 'secret')).toEqual([])
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
