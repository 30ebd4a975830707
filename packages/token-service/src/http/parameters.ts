import type { z } from 'zod'
import { ProtocolError } from './protocol-error.ts'

/** What a form or a query parses into: a repeated name becomes a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>

/** Checks parameters against their schema, and says which one is missing, repeated or wrong. */
export function parseParameters<Schema extends z.ZodObject>(
  schema: Schema,
  raw: RawParameters,
): z.output<Schema> {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  // Names out of the schema, so nothing a client sent comes back to it.
  const name = String(result.error.issues[0]?.path[0])
  const value = raw[name]
  if (Array.isArray(value)) throw new ProtocolError('repeated_parameter', { parameter: name })
  if (value === undefined) throw new ProtocolError('missing_parameter', { parameter: name })
  if (name === 'grant_type') throw new ProtocolError('unsupported_grant_type')
  throw new ProtocolError('malformed_parameter', { parameter: name })
}
