/** The parts of the OpenAPI document that the reference shows. */
interface ApiDescription {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, { readonly post: DescribedOperation }>>
}

interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly anyOf: readonly Form[] } }>>
  }
  readonly responses: Readonly<Record<string, DescribedResponse>>
}

export interface Parameter {
  readonly name: string
  readonly required: boolean
  readonly description: string
  readonly schema: { readonly description?: string; readonly enum?: readonly string[] }
}

/** One of the forms that an endpoint accepts. */
export interface Form {
  readonly properties: Readonly<Record<string, { readonly description?: string; readonly const?: string }>>
  readonly required?: readonly string[]
}

interface DescribedResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
  readonly content?: {
    readonly 'application/json': { readonly examples?: Readonly<Record<string, Example>> }
  }
}

export interface Example {
  readonly summary: string
  readonly value: object
}

export interface OperationResponse {
  readonly status: number
  readonly description: string
  readonly headers: readonly (readonly [name: string, description: string])[]
  readonly examples: readonly Example[]
}

export interface Operation {
  /** Names the operation in links. */
  readonly id: string
  readonly title: string
  readonly description: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly forms: readonly Form[]
  readonly responses: readonly OperationResponse[]
}

/** What the document says about the service, and each of its operations in order. */
export function readOperations(document: object): { about: string; operations: readonly Operation[] } {
  const { info, paths } = document as ApiDescription
  const operations = Object.entries(paths).map(([path, { post }]) => {
    const { operationId, summary, description, parameters = [], requestBody, responses } = post
    return {
      id: operationId,
      title: summary,
      description,
      path,
      parameters,
      forms: requestBody.content['application/x-www-form-urlencoded']?.schema.anyOf ?? [],
      responses: Object.entries(responses).map(([status, response]) => ({
        status: Number(status),
        description: response.description,
        headers: Object.entries(response.headers ?? {}).map(
          ([name, header]) => [name, header.description] as const,
        ),
        examples: Object.values(response.content?.['application/json'].examples ?? {}),
      })),
    }
  })
  return { about: info.description, operations }
}
