/** As much of an OpenAPI document as the reference shows. */
export interface DescribedApi {
  readonly info: { readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, { readonly post: DescribedOperation }>>
  readonly components: { readonly schemas: Readonly<Record<string, DescribedSchema>> }
}

export interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string | undefined
  readonly parameters?: readonly DescribedParameter[] | undefined
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: DescribedSchema }>> }
  readonly responses: Readonly<Record<string, DescribedResponse>>
}

export interface DescribedParameter {
  readonly name: string
  readonly in: string
  readonly schema: DescribedSchema
}

export interface DescribedResponse {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: DescribedSchema }>> | undefined
}

export interface DescribedSchema {
  readonly $ref?: string | undefined
  readonly anyOf?: readonly DescribedSchema[] | undefined
  readonly type?: string | undefined
  readonly enum?: readonly string[] | undefined
  readonly const?: unknown
  readonly items?: DescribedSchema | undefined
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, DescribedSchema>> | undefined
  readonly required?: readonly string[] | undefined
}

/** The schema itself where another one refers to it. */
function resolved({ components }: DescribedApi, schema: DescribedSchema): DescribedSchema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components.schemas[name] ?? {})
}

/** The schemas it may be one of, each under a name of its own. */
export function alternatives(api: DescribedApi, schema: DescribedSchema): readonly DescribedSchema[] {
  const own = resolved(api, schema)
  return own.anyOf?.flatMap((each) => alternatives(api, each)) ?? [own]
}
