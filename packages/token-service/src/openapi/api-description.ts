import type { ErrorShape } from '../http/error-body.ts'
import { introspectionPath } from '../http/introspection-endpoint.ts'
import { classicError, introspectionAnswer, standardError, tokenAnswer } from '../http/oauth-answers.ts'
import { clientForm, presentedToken, tokenQuery } from '../http/oauth-parameters.ts'
import { revocationPath } from '../http/revocation-endpoint.ts'
import { tokenPath } from '../http/token-endpoint.ts'
import { formSchema, jsonSchema, type JsonSchema } from './json-schema.ts'

// API clients that import the description fill in their variables of these names.
const placeholders = {
  client_id: '{{client_id}}',
  client_secret: '{{client_secret}}',
  token: '{{access_token}}',
}

/** The service's interface as an OpenAPI 3.1 document, made of the schemas that check its requests. */
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
    // The variables are not part of the address: API clients keep them for the requests.
    servers: [{ url: serverUrl, variables: { client_id: { default: '' }, client_secret: { default: '' } } }],
    paths: {
      [tokenPath]: post({
        operationId: 'getAccessToken',
        summary: 'Get Access Token',
        parameters: [{ name: 'grant_type', in: 'query', required: true, schema: grantType }],
        form: formSchema(clientForm, placeholders),
        answer: reference('TokenResponse'),
        refusal: reference(errors === 'classic' ? 'ClassicError' : 'Error'),
      }),
      [introspectionPath]: post({
        operationId: 'introspectToken',
        summary: 'Introspect Token',
        description: 'For resource servers, with credentials of their own (RFC 7662).',
        form: aboutToken,
        answer: reference('Introspection'),
        refusal: reference('Error'),
      }),
      [revocationPath]: post({
        operationId: 'revokeToken',
        summary: 'Revoke Token',
        description: 'For the application that the token was issued to (RFC 7009).',
        form: aboutToken,
        refusal: reference('Error'),
      }),
    },
    components: {
      schemas: {
        TokenResponse: jsonSchema(tokenAnswer),
        Introspection: jsonSchema(introspectionAnswer),
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
  readonly answer?: object
  readonly refusal: object
}

function post({ form, answer, refusal, ...operation }: Operation): object {
  const refused = (description: string) => ({
    description,
    content: { 'application/json': { schema: refusal } },
  })
  return {
    post: {
      ...operation,
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: form } } },
      responses: {
        200: { description: 'Done.', ...(answer && { content: { 'application/json': { schema: answer } } }) },
        400: refused('The request is wrong.'),
        401: refused('The credentials are wrong.'),
        429: refused('Too many attempts failed; `Retry-After` says when to try again.'),
        503: refused('The service cannot answer for the moment.'),
      },
    },
  }
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}
