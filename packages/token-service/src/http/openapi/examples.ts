import { errorBody } from '../../oauth/error-body.ts'
import type { IntrospectionResponse, TokenResponse } from '../../oauth/oauth-responses.ts'
import { ProtocolError, type ErrorReason, type Format } from '../../oauth/protocol-error.ts'

/** Examples of a body, by name (OpenAPI 3.1, section 4.8.19). */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>

const token = {
  access_token: 'VfZ8Q1n0H3xkY5r7t9w2',
  token_type: 'Bearer',
  expires_in: '3600',
  issued_at: '1767225600000',
  client_id: 'uO0RkmXq',
  application_name: 'Transcriber',
  organization_name: 'Example',
  developer_email: 'ada@example.com',
  status: 'approved',
  scope: '',
  refresh_token_expires_in: '0',
  refresh_count: '0',
} as const
const { access_token, token_type, client_id } = token
const product = 'speech-to-text'

export const tokenExamples: Examples = {
  products: {
    summary: 'with API products',
    value: {
      ...token,
      api_product_list: `[${product}]`,
      api_product_list_json: [product],
    } satisfies TokenResponse,
  },
  refresh: {
    summary: 'with level and refresh token',
    value: { ...token, refresh_token: '', level: 'gold' } satisfies TokenResponse,
  },
  bound: {
    summary: 'bound to a key',
    value: { access_token, token_type: 'DPoP', expires_in: 3600 } satisfies TokenResponse,
  },
  rfc6749: {
    summary: 'with the fields of RFC 6749',
    value: { access_token, token_type, expires_in: 3600 } satisfies TokenResponse,
  },
}

export const introspectionExamples: Examples = {
  active: {
    summary: 'an active token',
    value: {
      active: true,
      client_id,
      sub: client_id,
      token_type,
      scope: '',
      iat: 1_767_225_600,
      exp: 1_767_229_200,
      api_products: [product],
    } satisfies IntrospectionResponse,
  },
  bound: {
    summary: 'an active token that is bound to a key',
    value: {
      active: true,
      client_id,
      sub: client_id,
      token_type: 'DPoP',
      scope: 'orders:read',
      iat: 1_767_225_600,
      exp: 1_767_229_200,
      api_products: [product],
      aud: 'https://orders.example.com',
      cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' },
    } satisfies IntrospectionResponse,
  },
  inactive: { summary: 'any other token', value: { active: false } satisfies IntrospectionResponse },
}

/** The bodies that the service sends for these errors. */
export function errorExamples(format: Format, reasons: readonly ErrorReason[]): Examples {
  return Object.fromEntries(
    reasons.map((reason) => {
      const details = reason === 'missing_parameter' ? { parameter: 'client_id' } : {}
      const value = errorBody(new ProtocolError(reason, details), format).body
      return [reason, { summary: reason.replaceAll('_', ' '), value }]
    }),
  )
}
