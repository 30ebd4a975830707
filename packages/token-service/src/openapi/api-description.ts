import { z } from 'zod'
import type { ErrorShape } from '../protocol/error-body.ts'
import { introspectionPath, revocationPath, tokenPath } from '../protocol/endpoint-paths.ts'
import {
  classicError,
  introspectionResponseSchema,
  standardError,
  tokenResponseSchema,
} from '../protocol/oauth-responses.ts'
import { assertionForm, clientForm, presentedToken, tokenQuery } from '../protocol/oauth-parameters.ts'
import { formSchema, jsonSchema } from './json-schema.ts'

// API clients that import the document replace these with their variables.
const placeholders = {
  client_id: '{{client_id}}',
  client_secret: '{{client_secret}}',
  token: '{{access_token}}',
}

/** The service's interface as an OpenAPI 3.1 document, derived from the schemas that check its requests. */
export function apiDescription(serverUrl: string, errors: ErrorShape): object {
  const grantType = jsonSchema(tokenQuery.shape.grant_type)
  const tokenError = errors === 'classic' ? 'ClassicError' : 'Error'
  return {
    openapi: '3.1.0',
    info: {
      title: 'Token service',
      version: '1',
      description:
        'Issues access tokens to applications: OAuth 2.0, client credentials grant. Clients authenticate by secret, in the form or by Basic, or by an assertion that they sign (`private_key_jwt`).',
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
        description: 'Issues a token. The application is rejected unless it is approved.',
        tags: ['Tokens'],
        parameters: [
          {
            name: 'grant_type',
            in: 'query',
            required: true,
            description: 'Required in the query; the form may repeat it.',
            schema: grantType,
          },
        ],
        requestBody: formBody({ required: false }),
        response: reference('TokenResponse'),
        error: reference(tokenError),
      }),
      [introspectionPath]: post({
        operationId: 'introspectToken',
        summary: 'Introspect Token',
        description: 'For resource servers, with their own credentials (RFC 7662).',
        tags: ['Introspection'],
        requestBody: formBody({ required: true, also: presentedToken }),
        response: reference('Introspection'),
        error: reference('Error'),
      }),
      [revocationPath]: post({
        operationId: 'revokeToken',
        summary: 'Revoke Token',
        description: 'For the application that the token was issued to (RFC 7009).',
        tags: ['Tokens'],
        requestBody: formBody({ required: true, also: presentedToken }),
        error: reference('Error'),
      }),
    },
    components: {
      securitySchemes: {
        clientBasic: {
          type: 'http',
          scheme: 'basic',
          description: 'Client ID and client secret, form-encoded (RFC 6749 section 2.3.1) or as they are.',
        },
      },
      schemas: {
        TokenResponse: jsonSchema(tokenResponseSchema),
        Introspection: jsonSchema(introspectionResponseSchema),
        ...(errors === 'classic' && { ClassicError: jsonSchema(classicError) }),
        Error: jsonSchema(standardError),
      },
    },
  }
}

/** Credentials in the form, or none beside Basic; API clients that import the document show the first kind. */
function formBody({ required, also = z.object({}) }: { required: boolean; also?: z.ZodObject }): object {
  const forms = [clientForm, assertionForm, z.object({})].map((form) => also.extend(form.shape))
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
  readonly response?: object
  readonly error: object
}

function post({ response, error, ...operation }: Operation): object {
  const failed = (description: string, headers: Record<string, string> = {}) => ({
    description,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, about]) => [
        name,
        { description: about, required: true, schema: { type: 'string' } },
      ]),
    ),
    content: { 'application/json': { schema: error } },
  })
  const retryAfter = { 'Retry-After': 'Seconds until the next attempt.' }
  return {
    post: {
      ...operation,
      // Without Basic, the credentials are in the form.
      security: [{}, { clientBasic: [] }],
      responses: {
        200: {
          description: 'Success.',
          ...(response && { content: { 'application/json': { schema: response } } }),
        },
        400: failed('The request is invalid.'),
        401: failed('The client credentials are invalid.', { 'WWW-Authenticate': '`Basic`.' }),
        405: failed('The method is not POST.', { Allow: '`POST`.' }),
        413: failed('The body is larger than 16 KiB.'),
        415: failed('The body is not `application/x-www-form-urlencoded`.'),
        429: failed('Too many failed attempts from this address for this client.', retryAfter),
        503: failed('The service is temporarily unavailable.', retryAfter),
      },
    },
  }
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}
