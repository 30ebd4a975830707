import { inspect } from 'node:util'
import assert from 'node:assert/strict'

/** Fails if any usual way of logging `value` shows one of the secrets. */
export function expectNoSecrets(value: unknown, secrets: readonly string[]): void {
  const logged = [
    inspect(value),
    inspect(value, { depth: null, maxStringLength: null, maxArrayLength: null }),
    toJson(value),
    String(value),
  ]
  for (const secret of secrets)
    for (const text of logged) assert.ok(!text.includes(secret), 'A secret is shown.')
}

/** As loggers that survive circular references do: every enumerable member, `toJSON` where it exists. */
function toJson(value: unknown): string {
  const ancestors: unknown[] = []
  return (
    JSON.stringify(value, function (this: unknown, _key, member: unknown) {
      while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop()
      if (typeof member !== 'object' || member === null) return member
      if (ancestors.includes(member)) return '[circular]'
      ancestors.push(member)
      return member instanceof Error
        ? Object.assign({ message: member.message, stack: member.stack }, member)
        : member
    }) ?? ''
  )
}
