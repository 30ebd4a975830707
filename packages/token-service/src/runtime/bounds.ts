import { z } from 'zod'
import { notDeceptive } from './lookalikes.ts'

// What enters the service, in the configuration, the command, the administrators' API or the portal, is bounded here: every
// database can store it, and every number can be read again.

const ofLine = (text: z.ZodString, maxLength: number) =>
  text
    .min(1)
    .max(maxLength)
    .regex(
      /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u,
      'must not contain line breaks or other control or invisible characters',
    )

/** A line of text, without control characters; spaces around it are removed. */
export const line = (maxLength: number) => ofLine(z.string().trim(), maxLength)

/** The same as it is sent. */
export const exactLine = (maxLength: number) => ofLine(z.string(), maxLength)

export function optionalLine(maxLength: number) {
  return z.union([z.literal(''), line(maxLength)])
}

/** Several lines of text, or none; without other control characters. */
export function optionalText(maxLength: number) {
  return z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .pipe(
      z
        .string()
        .max(maxLength)
        .regex(
          /^[^\p{Cf}\p{Zl}\p{Zp}\0-\t\v-\x1f\x7f-\x9f]*$/u,
          'must not contain control or invisible characters',
        ),
    )
}

/** What people call something. */
export const name = line(200)

/** The name of a project, which cannot be read as another name. */
export const projectName = name.check(notDeceptive)

export function printableUpTo(maxLength: number) {
  return z
    .string()
    .regex(new RegExp(`^[ -~]{1,${maxLength}}$`), `must be 1 to ${maxLength} printable ASCII characters`)
}

/** A client ID, a client secret. */
export const printable = printableUpTo(512)

/** A path holds each character of a client ID as at most three. */
export const maxParameterLength = 3 * 512

/** Names of clients, people and events that a request looks for. */
export const reference = z.string().max(512)

/** How often something was changed; the databases count with 32 bits. */
export const revision = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)

/** For how long the previous secret of a client can stay valid, in seconds. */
export const overlapSeconds = z
  .int()
  .min(0)
  .max(365 * 86_400)

/** How long something is kept, in days. */
export const retentionDays = z.int().min(1).max(36_500)

const maxDepth = 64

/**
 * What no database can store of a value that enters, before its schema is asked: PostgreSQL stores neither NUL nor half of a
 * surrogate pair. The names of members are texts, too.
 *
 * @returns the name of the part, such as `applications[0].name` or an empty text for the whole, and what it must be
 */
export function unstorablePart(value: unknown): readonly [name: string, what: string] | undefined {
  // Values can be nested more deeply than functions can call themselves, and the options of a program can contain themselves.
  const open: { readonly name: string; readonly value: unknown; readonly depth: number }[] = []
  const seen = new Set<unknown>()
  open.push({ name: '', value, depth: 0 })
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name: path, value: current, depth } = next
    if (typeof current === 'string' && !isStorable(current)) return [path, unstorable]
    if (!isPlain(current) || seen.has(current)) continue
    if (depth > maxDepth)
      return [path.split(/[.[]/)[0]!, `must not be nested more than ${maxDepth} levels deep`]
    seen.add(current)
    for (const [key, member] of Object.entries(current)) {
      if (!isStorable(key)) return [path, unstorable]
      const memberName = Array.isArray(current) ? `${path}[${key}]` : `${path && `${path}.`}${key}`
      open.push({ name: memberName, value: member, depth: depth + 1 })
    }
  }
  return undefined
}

const unstorable = 'must not contain NUL or half of a surrogate pair'
const isStorable = (text: string) => !/[\0\p{Cs}]/u.test(text)

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  // Parsers of queries have a prototype of their own, without members.
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
