import type { z } from 'zod'
import { ProtocolError } from './protocol-error.ts'

/** @throws {@link ProtocolError} that names the first missing, repeated or invalid parameter */
export function parseParameters<Schema extends z.ZodObject>(
  schema: Schema,
  raw: RawParameters,
): z.output<Schema> {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  // A name from the schema: nothing that the client sent is returned to it.
  const name = String(result.error.issues[0]?.path[0])
  const value = raw[name]
  if (Array.isArray(value)) throw new ProtocolError('repeated_parameter', { parameter: name })
  if (value === undefined) throw new ProtocolError('missing_parameter', { parameter: name })
  if (name === 'grant_type') throw new ProtocolError('unsupported_grant_type')
  throw new ProtocolError('malformed_parameter', { parameter: name })
}

/** A parsed form or query: a repeated name becomes a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>
