import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ServiceContext } from './context.ts'
import { parseValue } from '../runtime/parse-value.ts'
import type { Actor } from '../storage/audit-storage.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The names of the parameters in a path such as `/developers/:id`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** What operations work with. */
export interface AdminContext extends ServiceContext {
  readonly links: DeveloperLinks
}

/** Links for developers of the portal. */
export interface DeveloperLinks {
  createInvitation(by: Actor): Promise<{ readonly id: string; readonly link: string }>
  createPasswordLink(by: Actor, developerName: string): Promise<string>
}

/** The header in which the command names the user that runs it. */
export const userHeader = 'tokenwell-user'

/** The administrator's token is shared: whom a request is from is known only as far as the command says it. */
function actorOf({ ip, headers }: FastifyRequest): Actor {
  const user = headers[userHeader]
  const isCommand = typeof user === 'string' && /^[\x21-\x7e]{1,100}$/.test(user)
  return isCommand ? { actorType: 'command', actor: user, address: ip } : { actorType: 'api', address: ip }
}

/** A request, after it was checked. */
export interface Call<Path extends string = string, Body = unknown, Query = unknown> {
  readonly params: Readonly<Record<Names<Path>, string>>
  readonly body: Body
  readonly query: Query
  readonly by: Actor
  /** The revision that a change is based on (`If-Match`), if the request says so. */
  readonly seen: string | undefined
  /** For further headers. */
  readonly reply: FastifyReply
}

/** What a response with this schema is created from: lists may be readonly, and objects may have more members. */
type Returned<Value> = Value extends readonly (infer Item)[]
  ? readonly Returned<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value as string extends Name ? never : Name]: Returned<Value[Name]> }
    : Value

/**
 * An operation of the administrators' API, declared once. Its route follows from it, its part of the OpenAPI document and its command.
 */
export interface Operation<Path extends string, Body, Query, Result> {
  readonly method: Method
  readonly path: Path
  /** A sentence in the imperative, without a full stop. */
  readonly summary: string
  readonly body?: z.ZodType<Body> | undefined
  readonly query?: (z.ZodObject & z.ZodType<Query>) | undefined
  /** Without one, the response is empty. */
  readonly response?: z.ZodType<Result> | undefined
  /** @default 200, or 204 without a response */
  readonly status?: 201 | undefined
  /** Whether the response has the `revision` of what it describes, which is its `ETag`. */
  readonly etag?: true | undefined
  /** Whether a request may say which revision it changes; `required`: it must, if that exists. */
  readonly ifMatch?: 'optional' | 'required' | undefined
  /** @default 'application/json' */
  readonly contentType?: string | undefined
  /**
   * The command of `tokenwell-service admin`, or its name. Its arguments are the parameters of the path and what the body
   * requires, its options everything else.
   */
  readonly command: string | OperationCommand
  readonly run: (
    service: AdminContext,
    call: Call<Path, Body, Query>,
  ) => Promise<Returned<Result>> | Returned<Result>
}

export interface OperationCommand {
  readonly name: string
  /** What arguments are called in the help, if not like the parameter of the path or the member of the body. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Members that the body requires, and that are options nevertheless. */
  readonly options?: readonly string[] | undefined
  /** Members that the command leaves at their defaults. */
  readonly without?: readonly string[] | undefined
  /** Members that are read from a file, or a URL. */
  readonly files?: readonly string[] | undefined
  /** The member of the query after which a list continues: `--follow` waits for what comes next. */
  readonly follow?: string | undefined
  /** Whether the whole body is read from a JSON file, the only further argument. */
  readonly bodyFile?: true | undefined
}

// eslint-disable-next-line typescript/no-explicit-any -- each has its own types, which `operation` has checked
export type AnyOperation = Operation<any, any, any, any>

/** Operations that the help of the command lists together. */
export interface OperationGroup {
  readonly heading: string
  readonly operations: readonly AnyOperation[]
}

/** Checks the types of an operation. */
export function operation<Path extends string, Body, Query, Result>(
  declared: Operation<Path, Body, Query, Result>,
): AnyOperation {
  return declared
}

const names = new Map<z.ZodType, string>()

/** A schema that the OpenAPI document lists under this name. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name)
  return schema
}

/** The name of a schema, if it has one. */
export function nameOf(schema: z.ZodType): string | undefined {
  return names.get(schema)
}

/** Times in responses. */
export const ms = z.int().describe('Milliseconds since 1970, UTC.')

/** What each failed request is responded to with. */
export const adminError = named(
  'Error',
  z.object({
    error: z.string().describe('What was wrong, and what to do.'),
  }),
)

const parameters = z.record(z.string(), z.string())

/** Adds the route of an operation. */
export function addRoute(
  server: FastifyInstance,
  service: AdminContext,
  { method, path, body, query, response, status, contentType, etag, run }: AnyOperation,
): void {
  server.route({
    method: method.toUpperCase(),
    url: path as string,
    async handler(request: FastifyRequest, reply) {
      const result: unknown = await run(service, {
        params: parseValue(parameters, request.params, 'The path'),
        body: body && parseValue(body, request.body ?? (isOptional({ method, body }) ? {} : undefined)),
        query: query && parseValue(query, request.query),
        by: actorOf(request),
        seen: seenRevision(request),
        reply,
      })
      if (etag) void reply.header('etag', `"${(result as { revision: string | number }).revision}"`)
      if (!response) return reply.code(204).send()
      if (contentType !== undefined) void reply.type(contentType)
      return reply.code(status ?? 200).send(result)
    },
  })
}

/** Another form than that of our own `ETag` matches nothing (RFC 9110, section 13.1.1). */
function seenRevision({ headers }: FastifyRequest): string | undefined {
  const given = headers['if-match']
  return given === undefined ? undefined : (/^"([\w-]+)"$/.exec(given)?.[1] ?? given)
}

/** Whether a request without a body is one with its defaults. A `PATCH` without a body would change nothing. */
export function isOptional({ method, body }: Pick<AnyOperation, 'method' | 'body'>): boolean {
  return method !== 'patch' && (body as z.ZodType).safeParse({}).success
}
