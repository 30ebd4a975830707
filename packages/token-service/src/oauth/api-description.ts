import { z } from 'zod'
import { errorBody } from './error-body.ts'
import { introspectionPath, revocationPath, tokenPath } from './endpoint-paths.ts'
import {
  type IntrospectionResponse,
  introspectionResponseSchema,
  platformError,
  standardError,
  type TokenResponse,
  tokenResponseSchema,
} from './oauth-responses.ts'
import {
  assertionForm,
  clientForm,
  presentedIdentity,
  presentedToken,
  repeatedGrant,
  requestedResource,
  requestedScope,
  tokenQuery,
} from './parameters.ts'
import { ProtocolError, type ErrorReason, type Format } from './protocol-error.ts'
import { formSchema, jsonSchema } from '../runtime/json-schema.ts'

// API clients that import the document replace these with their variables.
const placeholders = {
  client_id: '{{client_id}}',
  client_secret: '{{client_secret}}',
  token: '{{access_token}}',
}

/** The service's interface as an OpenAPI 3.1 document, derived from the schemas that check its requests. */
export function apiDescription(serverUrl: string, format: Format): object {
  const isInQuery = format === 'platform'
  // API clients that import the document send the default.
  const grantType = { ...jsonSchema(tokenQuery.shape.grant_type), default: 'client_credentials' }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Token service',
      version: '1',
      description:
        'Issues access tokens to applications (OAuth 2.0 client credentials grant). Clients authenticate with a client secret, in the form or with HTTP Basic, with an assertion that they sign (`private_key_jwt`), or with a JWT of an issuer that the service trusts, as an assertion or as the grant (`jwt-bearer`).',
      contact: { name: 'The operator of this service', url: serverUrl },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      { name: 'Introspection', description: 'For resource servers, the APIs that accept tokens.' },
      { name: 'Tokens', description: 'For applications.' },
    ],
    paths: {
      [tokenPath]: post({
        operationId: 'getAccessToken',
        summary: 'Get Access Token',
        description:
          'Issues an access token to an approved application. If the request has a proof of possession of a key in the header `DPoP` (RFC 9449), the token is bound to that key.',
        tags: ['Tokens'],
        parameters: [
          {
            name: 'grant_type',
            in: 'query',
            required: isInQuery,
            description: isInQuery
              ? 'Required in the query; the form may repeat it.'
              : 'Required in the query or in the form.',
            schema: grantType,
          },
        ],
        requestBody: formBody({
          required: !isInQuery,
          also: (isInQuery ? requestedScope : repeatedGrant.extend(requestedScope.shape)).extend(
            requestedResource.shape,
          ),
          others: [presentedIdentity],
        }),
        response: { schema: reference('TokenResponse'), examples: tokenExamples },
        format,
        reasons: [
          'missing_parameter',
          ...(isInQuery ? (['grant_type_not_in_query'] as const) : []),
          'unsupported_grant_type',
          'invalid_scope',
          'scopes_of_several_resources',
          'invalid_target',
          'invalid_authorization_details',
          'invalid_client',
          'expired_secret',
          'client_not_identified',
          'application_not_approved',
          'invalid_grant',
          'identity_not_mapped',
          'missing_dpop_proof',
          'invalid_dpop_proof',
        ],
      }),
      [introspectionPath]: post({
        operationId: 'introspectToken',
        summary: 'Introspect Token',
        description:
          'Returns whether a token is active (RFC 7662). Resource servers authenticate with their own credentials.',
        tags: ['Introspection'],
        requestBody: formBody({ required: true, also: presentedToken }),
        response: { schema: reference('Introspection'), examples: introspectionExamples },
        format: 'standard',
        reasons: ['missing_parameter', 'invalid_client', 'missing_credentials', 'expired_secret'],
      }),
      [revocationPath]: post({
        operationId: 'revokeToken',
        summary: 'Revoke Token',
        description:
          'Revokes a token (RFC 7009). Only the application that the token was issued to can revoke it.',
        tags: ['Tokens'],
        requestBody: formBody({ required: true, also: presentedToken }),
        format: 'standard',
        reasons: [
          'missing_parameter',
          'token_of_another_client',
          'invalid_client',
          'missing_credentials',
          'expired_secret',
          'client_not_identified',
        ],
      }),
    },
    components: {
      securitySchemes: {
        clientBasic: {
          type: 'http',
          scheme: 'basic',
          description: 'Client ID and client secret, form-encoded (RFC 6749, section 2.3.1) or unencoded.',
        },
        // No operation here takes such a token: it is for the documents of the APIs that do, and for tools that request one.
        clientCredentials: {
          type: 'oauth2',
          description:
            'How an application gets a token for an API. Copy it to the OpenAPI document of that API.',
          flows: {
            clientCredentials: {
              tokenUrl: `${serverUrl}${tokenPath}${isInQuery ? '?grant_type=client_credentials' : ''}`,
              scopes: {},
            },
          },
        },
      },
      schemas: {
        TokenResponse: jsonSchema(tokenResponseSchema),
        Introspection: jsonSchema(introspectionResponseSchema),
        ...(format === 'platform' && { PlatformError: jsonSchema(platformError) }),
        Error: jsonSchema(standardError),
      },
    },
  }
}

/** Credentials in the form, or none with Basic; API clients that import the document show the first kind. */
function formBody({
  required,
  also = z.object({}),
  others = [],
}: {
  required: boolean
  also?: z.ZodObject
  /** What authenticates a request instead. */
  others?: readonly z.ZodObject[]
}): object {
  const forms = [clientForm, assertionForm, ...others, z.object({})].map((form) => also.extend(form.shape))
  const schema = { anyOf: forms.map((form) => formSchema(form, placeholders)) }
  return { required, content: { 'application/x-www-form-urlencoded': { schema } } }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters?: readonly object[]
  readonly requestBody: object
  readonly response?: { readonly schema: object; readonly examples: Examples }
  /** The format of error responses. */
  readonly format: Format
  /** The errors with status 400 or 401 that have an example. */
  readonly reasons: readonly ErrorReason[]
}

function post({ response, format, reasons, ...operation }: Operation): object {
  const schema = reference(format === 'platform' ? 'PlatformError' : 'Error')
  const failed = (
    description: string,
    examples: readonly ErrorReason[],
    headers: Record<string, string> = {},
  ) => ({
    description,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, about]) => [
        name,
        { description: about, required: true, schema: { type: 'string' } },
      ]),
    ),
    content: { 'application/json': { schema, examples: errorExamples(format, examples) } },
  })
  // The status of `application_not_approved` depends on the format of errors.
  const rejected = (status: number, description: string, headers?: Record<string, string>) => {
    const examples = reasons.filter(
      (reason) => errorBody(new ProtocolError(reason), format).status === status,
    )
    const cause = examples.includes('application_not_approved')
      ? `${description}, or the application is not approved.`
      : `${description}.`
    return failed(cause, examples, headers)
  }
  const retryAfter = { 'Retry-After': 'Time to wait before the next attempt, in seconds.' }
  return {
    post: {
      ...operation,
      // Without Basic, the credentials are in the form.
      security: [{}, { clientBasic: [] }],
      responses: {
        200: {
          description: 'Success.',
          ...(response && { content: { 'application/json': response } }),
        },
        400: rejected(400, 'The request is invalid'),
        401: rejected(401, 'The client credentials are invalid or have expired', {
          'WWW-Authenticate': '`Basic realm="tokenwell"`.',
        }),
        405: failed('The method is not POST.', ['method_not_allowed'], { Allow: '`POST`.' }),
        413: failed('The body is larger than 32 KiB.', ['body_too_large']),
        415: failed('The body is not `application/x-www-form-urlencoded`.', ['unsupported_content_type']),
        429: failed(
          'Too many failed attempts from this address for this client.',
          ['too_many_failures'],
          retryAfter,
        ),
        503: failed('The service is temporarily unavailable.', ['unavailable', 'overloaded'], retryAfter),
      },
    },
  }
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

/** Examples of a body, by name (OpenAPI 3.1, section 4.8.19). */
type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>

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

const tokenExamples: Examples = {
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

const introspectionExamples: Examples = {
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
function errorExamples(format: Format, reasons: readonly ErrorReason[]): Examples {
  return Object.fromEntries(
    reasons.map((reason) => {
      const details = reason === 'missing_parameter' ? { parameter: 'client_id' } : {}
      const value = errorBody(new ProtocolError(reason, details), format).body
      return [reason, { summary: reason.replaceAll('_', ' '), value }]
    }),
  )
}
