/** The parts of the OpenAPI document that the reference shows. */
export interface ApiDescription {
  readonly info: { readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string | undefined
  readonly parameters?: readonly Parameter[] | undefined
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, ApiResponse>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}

export interface ApiResponse {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>> | undefined
}

export interface Schema {
  readonly $ref?: string | undefined
  readonly anyOf?: readonly Schema[] | undefined
  readonly type?: string | undefined
  readonly enum?: readonly string[] | undefined
  readonly const?: unknown
  readonly items?: Schema | undefined
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly required?: readonly string[] | undefined
}

/** Follows a reference to a schema. */
function resolved({ components }: ApiDescription, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components.schemas[name] ?? {})
}

/** The alternatives that the schema combines. */
export function alternatives(api: ApiDescription, schema: Schema): readonly Schema[] {
  const own = resolved(api, schema)
  return own.anyOf?.flatMap((each) => alternatives(api, each)) ?? [own]
}
