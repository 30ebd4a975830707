import { z } from 'zod'
import { exactLine, line } from '../../runtime/bounds.ts'

/** An absolute URI (RFC 8707, section 2), or a name without spaces. */
export const audiencePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/

/** Token responses list products as `[a, b]`: names cannot contain commas or brackets. */
export const productNamePattern = /^[^,[\]\s](?:[^,[\]]*[^,[\]\s])?$/

/** RFC 6749, section 3.3. */
export const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/

export const productName = exactLine(100).regex(
  productNamePattern,
  'must not contain commas or brackets, or start or end with a space',
)

export const scopeName = z
  .string()
  .regex(scopePattern, 'must be 1 to 200 printable ASCII characters, without spaces, quotes and backslashes')

const audienceName = z
  .string()
  .regex(audiencePattern, 'must be a URI, or a name of printable ASCII characters without spaces')

/** The APIs that tokens are for. */
export const audiences = z.array(audienceName).max(20)

const description = line(200)
  .optional()
  .describe('For those who choose it. If it is omitted, an existing one is removed.')

/** A product of the catalogue, without its name. */
export const productDetails = z.strictObject({ description })

/** A scope of the catalogue, without its name. */
export const scopeDetails = z.strictObject({
  audience: audienceName
    .optional()
    .describe(
      'The API that it belongs to: only tokens for it have the scope. If it is omitted, the scope is of every API.',
    ),
  description,
})
