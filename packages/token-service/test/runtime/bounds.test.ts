import { describe, expect, it } from 'vitest'
import { unstorablePart } from '../../src/runtime/bounds.ts'

const unstorable = 'must not contain NUL or half of a surrogate pair'

describe('what no database can store', () => {
  it.each([
    ['a\0', '', unstorable],
    [{ name: 'a', level: 'x\0' }, 'level', unstorable],
    [{ rules: [{ claims: {} }, { claims: { sub: '\ud83d' } }] }, 'rules[1].claims.sub', unstorable],
    [{ claims: { '\udc00': 1 } }, 'claims', unstorable],
    [Object.assign(Object.create({ __proto__: null }) as object, { q: '\0' }), 'q', unstorable],
  ])('is found in %j, by its name', (value, name, what) => {
    expect(unstorablePart(value)).toEqual([name, what])
  })

  it('is nesting without end, but not a program that refers to itself', () => {
    const nested = (depth: number): unknown => JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    expect(unstorablePart(nested(63))).toBeUndefined()
    expect(unstorablePart(nested(65))).toEqual(['a', 'must not be nested more than 64 levels deep'])
    expect(unstorablePart(nested(100_000))?.[0]).toBe('a')
    const cyclic: Record<string, unknown> = { logger: {} }
    cyclic['self'] = cyclic
    expect(unstorablePart(cyclic)).toBeUndefined()
  })

  it('is neither a surrogate pair, a line break nor anything of a class', () => {
    expect(unstorablePart({ name: '😀\n', at: new Date(), of: new Map([['a', '\0']]) })).toBeUndefined()
  })
})
