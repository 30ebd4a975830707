import type { z } from 'zod'
import { jsonSchema } from '../http/openapi/json-schema.ts'
import { adminOperations, one, type Method, type Operation } from './admin-operations.ts'
import { schemas } from './admin-schemas.ts'

/** The administrators' HTTP API as an OpenAPI 3.1 document. */
export function adminDescription(serverUrl: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [method, path, operation] of adminOperations)
    (paths[path] ??= {})[method] = describe(method, path, operation)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Administration of the token service',
      version: '1',
      description: 'For administrators and their programs. Each request needs the administrator token.',
      contact: { name: 'The operator of this service', url: serverUrl },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: serverUrl }],
    security: [{ administratorToken: [] }],
    tags: [...new Set(adminOperations.map(([, path]) => tagOf(path)))]
      .toSorted()
      .map((name) => ({ name, description: `Everything below \`/${name}\`.` })),
    paths,
    components: {
      securitySchemes: { administratorToken: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, jsonSchema(schema)]),
      ),
    },
  }
}

function describe(method: Method, path: string, operation: Operation): object {
  const {
    summary,
    body,
    bodyIsOptional,
    query,
    response,
    status = response ? 200 : 204,
    contentType = 'application/json',
  } = operation
  const required = new Set(query ? (jsonSchema(query).required as string[] | undefined) : [])
  const parameters = [
    ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      schema: jsonSchema(schema as z.ZodType),
    })),
  ]
  const failed = (description: string) => ({
    description,
    content: { 'application/json': { schema: one('Error') } },
  })
  return {
    operationId: operationId(method, path),
    summary,
    description: `${summary}.`,
    tags: [tagOf(path)],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyIsOptional,
        content: { 'application/json': { schema: jsonSchema(body) } },
      },
    }),
    responses: {
      [status]: {
        description: 'Success.',
        ...(response && { content: { [contentType]: { schema: response } } }),
      },
      400: failed('The request is invalid.'),
      401: failed('The administrator token is missing or invalid.'),
      404: failed('It does not exist.'),
      409: failed('It exists already, was changed by somebody else, is the last one, or it is too early.'),
      503: failed('The storage is unavailable.'),
    },
  }
}

function tagOf(path: string): string {
  return path.split('/')[1]!
}

/** Such as `post-applications-clientId-secrets`. */
function operationId(method: Method, path: string): string {
  return `${method}${path.replaceAll('/', '-').replaceAll(/[{}]/g, '')}`
}
