import { z } from 'zod'

// The bodies of responses: the OpenAPI document and the types are derived from these schemas.

const digits = z.string().regex(/^\d+$/)

const tokenType = z
  .enum(['Bearer', 'DPoP'])
  .describe('`DPoP` if the token is bound to the key of a proof (RFC 9449).')

const commonFields = z.object({
  access_token: z.string().describe('The access token.'),
  token_type: tokenType,
  expires_in: digits.describe('Lifetime of the token, in seconds.'),
  issued_at: digits.describe('Time of issue, in milliseconds since 1970.'),
  client_id: z.string(),
  application_name: z.string(),
  organization_name: z.string(),
  developer_email: z.string(),
  status: z.literal('approved'),
  scope: z.string().describe('The scopes of the token, space-separated; can be empty.'),
  refresh_token_expires_in: z.literal('0'),
  refresh_count: z.literal('0'),
})

/** Only the fields of RFC 6749, section 5.1, for clients that reject any others. */
const standardFields = z.strictObject({
  access_token: z.string(),
  token_type: tokenType,
  expires_in: z.int().describe('Lifetime of the token, in seconds.'),
  scope: z.string().optional().describe('The scopes of the token, space-separated, if it has any.'),
})

export const tokenResponseSchema = z.union([
  commonFields.extend({
    api_product_list: z
      .string()
      .describe('The API products that the token is valid for, as text in brackets: `[a, b]`.'),
    api_product_list_json: z.array(z.string()).readonly().describe('The same API products as a list.'),
  }),
  commonFields.extend({
    refresh_token: z.literal(''),
    level: z.string().describe('The level of the application.'),
  }),
  standardFields,
])

export const introspectionResponseSchema = z.union([
  z.object({
    active: z.literal(true),
    client_id: z.string(),
    sub: z.string(),
    token_type: tokenType,
    scope: z.string(),
    iat: z.number().describe('Time of issue, in seconds since 1970.'),
    exp: z.number().describe('Time of expiry, in seconds since 1970.'),
    api_products: z.array(z.string()).readonly(),
    iss: z.string().optional().describe('The issuer of a JWT.'),
    aud: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe('The APIs that the token is for.'),
    jti: z.string().optional().describe('The ID of a JWT.'),
    cnf: z
      .object({ jkt: z.string().describe('Its thumbprint (RFC 7638).') })
      .optional()
      .describe('The key that the token is bound to (RFC 9449, section 6.2).'),
  }),
  z.object({ active: z.literal(false) }),
])

const platformErrorBody = z.object({ ErrorCode: z.string(), Error: z.string() })
const platformFault = z.object({
  fault: z.object({ faultstring: z.string(), detail: z.object({ errorcode: z.string() }) }),
})
export const standardError = z.object({ error: z.string(), error_description: z.string() })
export const platformError = z.union([platformErrorBody, platformFault])

export type TokenResponse = z.output<typeof tokenResponseSchema>
export type IntrospectionResponse = z.output<typeof introspectionResponseSchema>
export type ErrorResponse = z.output<typeof standardError> | z.output<typeof platformError>
