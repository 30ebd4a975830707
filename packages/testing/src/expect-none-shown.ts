import { inspect } from 'node:util'
import { expect } from 'vitest'

/** Whatever way `held` may be logged, it shows none of the secrets. */
export function expectNoneShown(held: unknown, secrets: readonly string[]): void {
  const shown = [
    inspect(held),
    inspect(held, { depth: null, maxStringLength: null, maxArrayLength: null }),
    toJson(held),
    String(held),
  ]
  for (const secret of secrets) for (const text of shown) expect(text).not.toContain(secret)
}

/** As loggers do that survive circles: every enumerable member, `toJSON` where there is one. */
function toJson(value: unknown): string {
  const above: unknown[] = []
  return (
    JSON.stringify(value, function (this: unknown, _key, member: unknown) {
      while (above.length > 0 && above.at(-1) !== this) above.pop()
      if (typeof member !== 'object' || member === null) return member
      if (above.includes(member)) return '[circle]'
      above.push(member)
      return member instanceof Error
        ? Object.assign({ message: member.message, stack: member.stack }, member)
        : member
    }) ?? ''
  )
}
