import { z } from 'zod'

// What the endpoints answer; the API description is made of these schemas, and the types of the answers.

const digits = z.string().regex(/^\d+$/)

const commonFields = z.object({
  access_token: z.string().describe('The bearer token.'),
  token_type: z.literal('Bearer'),
  expires_in: digits.describe('How long the token lives, in seconds.'),
  issued_at: digits.describe('When it was issued, in milliseconds since the epoch.'),
  client_id: z.string(),
  application_name: z.string(),
  organization_name: z.string(),
  developer_email: z.string(),
  status: z.literal('approved'),
  scope: z.string(),
  refresh_token_expires_in: z.literal('0'),
  refresh_count: z.literal('0'),
})

export const tokenAnswer = z.union([
  commonFields.extend({
    api_product_list: z.string().describe('The products as bracketed text: `[a, b]`.'),
    api_product_list_json: z.array(z.string()).readonly().describe('The same products as a list.'),
  }),
  commonFields.extend({
    refresh_token: z.literal(''),
    level: z.string().describe('The level of the application.'),
  }),
])

export const introspectionAnswer = z.union([
  z.object({
    active: z.literal(true),
    client_id: z.string(),
    sub: z.string(),
    token_type: z.literal('Bearer'),
    scope: z.string(),
    iat: z.number().describe('When it was issued, in seconds since the epoch.'),
    exp: z.number().describe('When it expires, in seconds since the epoch.'),
    api_products: z.array(z.string()).readonly(),
  }),
  z.object({ active: z.literal(false) }),
])

const classicRefusal = z.object({ ErrorCode: z.string(), Error: z.string() })
const classicFault = z.object({
  fault: z.object({ faultstring: z.string(), detail: z.object({ errorcode: z.string() }) }),
})
export const standardError = z.object({ error: z.string(), error_description: z.string() })
export const classicError = z.union([classicRefusal, classicFault])

export type TokenAnswer = z.output<typeof tokenAnswer>
export type IntrospectionAnswer = z.output<typeof introspectionAnswer>
export type ErrorAnswer = z.output<typeof standardError> | z.output<typeof classicError>
