import { ProtocolError } from './protocol-error.ts'
import { z } from 'zod'

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

/** Parameters without a value are treated as omitted (RFC 6749, section 3.2). */
export function withoutEmptyParameters(raw: RawParameters): RawParameters {
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== ''))
}

// Requests are checked against these schemas, and the OpenAPI document is derived from them.

/** Printable ASCII (RFC 6749, appendix A.1). */
const visible = z.string().regex(/^[\x20-\x7e]{1,512}$/)

/** RFC 7523, section 2.1. */
export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const grantType = z.enum(['client_credentials', jwtBearer])

export const tokenQuery = z.object({
  grant_type: grantType.describe('The grant: `client_credentials`, or that of an `assertion`.'),
})

export const clientForm = z.object({
  client_id: visible.describe('The client ID, also called consumer key.'),
  client_secret: visible.describe('The client secret, also called consumer secret.'),
})

export const optionalClientForm = clientForm.partial()

/** RFC 7523, section 2.2. */
export const assertionForm = z.object({
  client_assertion_type: z.literal('urn:ietf:params:oauth:client-assertion-type:jwt-bearer'),
  client_assertion: z
    .string()
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    .max(16_384)
    .describe(
      'A JWT that the client has signed with its private key, or that was issued to it by an issuer that this service trusts.',
    ),
  client_id: visible
    .optional()
    .describe('The application. It is the `sub` of an assertion that the client has signed.'),
})

/** RFC 7523, section 2.1. */
export const presentedIdentity = z.object({
  assertion: z
    .string()
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    .max(16_384)
    .describe('A JWT of an issuer that this service trusts, for the grant `jwt-bearer`.'),
  client_id: visible.optional().describe('The application, if the JWT stands for more than one.'),
})

export const repeatedGrant = z.object({
  grant_type: grantType.optional().describe('May be repeated here with the same value.'),
})

/** RFC 6749, section 3.3; each is checked against what is granted. */
export const requestedScope = z.object({
  scope: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'Space-separated scopes, to narrow the token; by default, all that are granted to the application.',
    ),
})

/** RFC 8707, section 2; each is checked against what is granted. */
export const requestedResource = z.object({
  resource: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      'The API that the token is for, to narrow its audience; by default, the API of the scopes, or all that are granted to the application.',
    ),
})

export const presentedToken = z.object({
  token: z.string().min(1).describe('The access token to introspect or revoke.'),
})
