import { z } from 'zod'
import { jsonSchema, type JsonSchema } from '../runtime/json-schema.ts'
import {
  adminError,
  isOptional,
  nameOf,
  type AnyOperation,
  type Method,
  type OperationGroup,
} from '../features/operation.ts'

/** The administrators' HTTP API as an OpenAPI 3.1 document. */
export function adminDescription(
  serverUrl: string,
  groups: readonly Pick<OperationGroup, 'operations'>[],
): object {
  const components = new Map<string, JsonSchema>()
  const refer = (schema: z.ZodType) => referTo(schema, components)
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of groups.flatMap(({ operations }) => operations)) {
    const path = (operation.path as string).replaceAll(/:(\w+)/g, '{$1}')
    ;(paths[path] ??= {})[operation.method] = describe({ ...operation, path }, refer)
  }
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
    tags: [...new Set(Object.keys(paths).map(tagOf))]
      .toSorted()
      .map((name) => ({ name, description: `Everything below \`/${name}\`.` })),
    paths,
    components: {
      securitySchemes: { administratorToken: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

function describe(
  { method, path, summary, body, query, response, status, contentType, ifMatch }: AnyOperation,
  refer: (schema: z.ZodType) => JsonSchema,
): object {
  const responseSchema = response && refer(response as z.ZodType)
  const required = new Set(query ? (jsonSchema(query as z.ZodObject).required as string[] | undefined) : [])
  const parameters = [
    ...Array.from((path as string).matchAll(/\{(\w+)\}/g), ([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries((query as z.ZodObject | undefined)?.shape ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      schema: jsonSchema(schema as z.ZodType),
    })),
    ...(ifMatch
      ? [
          {
            name: 'If-Match',
            in: 'header',
            required: false,
            description: `The revision to change, in quotation marks, or \`*\`${ifMatch === 'required' ? '; required for what exists' : ''}.`,
            schema: { type: 'string' },
          },
        ]
      : []),
  ]
  const error = refer(adminError)
  const failed = (description: string) => ({
    description,
    content: { 'application/json': { schema: error } },
  })
  return {
    operationId: operationId(method, path as string),
    summary,
    description: `${summary}.`,
    tags: [tagOf(path as string)],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !isOptional({ method, body }),
        content: { 'application/json': { schema: jsonSchema(body as z.ZodType) } },
      },
    }),
    responses: {
      [status ?? (responseSchema ? 200 : 204)]: {
        description: 'Success.',
        ...(responseSchema && {
          content: { [contentType ?? 'application/json']: { schema: responseSchema } },
        }),
      },
      400: failed('The request is invalid.'),
      401: failed('The administrator token is missing or invalid.'),
      404: failed('It does not exist.'),
      409: failed('It exists already, was changed by somebody else, is the last one, or it is too early.'),
      ...(ifMatch && { 412: failed('It has another revision than that of `If-Match`.') }),
      ...(ifMatch === 'required' && { 428: failed('It exists, and the request has no `If-Match`.') }),
      503: failed('The storage is unavailable, or too many changes are waiting.'),
    },
  }
}

/** A schema with a name, or a list of them, refers to the document's schemas. */
function referTo(schema: z.ZodType, components: Map<string, JsonSchema>): JsonSchema {
  if (schema instanceof z.ZodArray)
    return { type: 'array', items: referTo(schema.element as z.ZodType, components) }
  const name = nameOf(schema)
  if (name === undefined) return jsonSchema(schema)
  components.set(name, jsonSchema(schema))
  return { $ref: `#/components/schemas/${name}` }
}

function tagOf(path: string): string {
  return path.split('/')[1]!
}

/** Such as `post-applications-clientId-secrets`. */
function operationId(method: Method, path: string): string {
  return `${method}${path.replaceAll('/', '-').replaceAll(/[{}]/g, '')}`
}
