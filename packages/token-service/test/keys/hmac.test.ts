import { createHmac } from 'node:crypto'
import { assert, oneof, property, string, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { createHmacFunction } from '../../src/keys/hmac.ts'

it('is HMAC-SHA-256, whatever the key and the texts', () => {
  const text = oneof(string({ unit: 'binary' }), string({ minLength: 900, maxLength: 1_200 }))
  assert(
    property(uint8Array({ maxLength: 200 }), text, text, (key, first, second) => {
      const hmac = createHmacFunction(Buffer.from(key))
      for (const each of [first, second, first]) {
        expect(hmac(each)).toEqual(createHmac('sha256', key).update(each).digest())
      }
    }),
  )
})
