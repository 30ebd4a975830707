import type { ErrorShape } from '../protocol/error-body.ts'
import { introspectionPath, revocationPath, tokenPath } from '../protocol/endpoint-paths.ts'
import {
  classicError,
  introspectionResponseSchema,
  standardError,
  tokenResponseSchema,
} from '../protocol/oauth-responses.ts'
import { clientForm, presentedToken, tokenQuery } from '../protocol/oauth-parameters.ts'
import { formSchema, jsonSchema, type JsonSchema } from './json-schema.ts'

// API clients that import the document replace these with their variables.
const placeholders = {
  client_id: '{{client_id}}',
  client_secret: '{{client_secret}}',
  token: '{{access_token}}',
}

/** The service's interface as an OpenAPI 3.1 document, derived from the schemas that check its requests. */
export function apiDescription(serverUrl: string, errors: ErrorShape): object {
  const grantType = jsonSchema(tokenQuery.shape.grant_type)
  const aboutToken = formSchema(presentedToken.extend(clientForm.shape), placeholders)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Token service',
      version: '1',
      description: 'Issues access tokens to applications: OAuth 2.0, client credentials grant.',
    },
    // The URL does not contain the variables: API clients use them in requests.
    servers: [{ url: serverUrl, variables: { client_id: { default: '' }, client_secret: { default: '' } } }],
    paths: {
      [tokenPath]: post({
        operationId: 'getAccessToken',
        summary: 'Get Access Token',
        parameters: [{ name: 'grant_type', in: 'query', required: true, schema: grantType }],
        form: formSchema(clientForm, placeholders),
        response: reference('TokenResponse'),
        error: reference(errors === 'classic' ? 'ClassicError' : 'Error'),
      }),
      [introspectionPath]: post({
        operationId: 'introspectToken',
        summary: 'Introspect Token',
        description: 'For resource servers, with their own credentials (RFC 7662).',
        form: aboutToken,
        response: reference('Introspection'),
        error: reference('Error'),
      }),
      [revocationPath]: post({
        operationId: 'revokeToken',
        summary: 'Revoke Token',
        description: 'For the application that the token was issued to (RFC 7009).',
        form: aboutToken,
        error: reference('Error'),
      }),
    },
    components: {
      schemas: {
        TokenResponse: jsonSchema(tokenResponseSchema),
        Introspection: jsonSchema(introspectionResponseSchema),
        ClassicError: jsonSchema(classicError),
        Error: jsonSchema(standardError),
      },
    },
  }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly object[]
  readonly form: JsonSchema
  readonly response?: object
  readonly error: object
}

function post({ form, response, error, ...operation }: Operation): object {
  const failed = (description: string) => ({
    description,
    content: { 'application/json': { schema: error } },
  })
  return {
    post: {
      ...operation,
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: form } } },
      responses: {
        200: {
          description: 'Success.',
          ...(response && { content: { 'application/json': { schema: response } } }),
        },
        400: failed('The request is invalid.'),
        401: failed('The client credentials are invalid.'),
        429: failed('Too many failed attempts; try again after `Retry-After` seconds.'),
        503: failed('The service is temporarily unavailable.'),
      },
    },
  }
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}
