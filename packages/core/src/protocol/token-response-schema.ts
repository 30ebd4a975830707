import * as z from 'zod/mini'
import {
  isAccessToken,
  readers,
  readTokenType,
  toTokenResponse,
  type TokenResponse,
} from './token-response.ts'

/** A member that is undefined if it is missing or has another form. */
const optional = <Output>(read: (value: unknown) => Output | undefined) => z.optional(z.transform(read))

type Member<Name extends keyof typeof readers> = ReturnType<
  typeof optional<NonNullable<ReturnType<(typeof readers)[Name]>>>
>

/** Created at the first use: a page that imports this entry for something else need not wait for it. */
function createSchema() {
  const members = Object.fromEntries(
    Object.entries(readers).map(([name, read]) => [name, optional<unknown>(read)]),
  ) as unknown as { readonly [Name in keyof typeof readers]: Member<Name> }
  return z.pipe(
    z.looseObject({
      access_token: z.custom<string>(isAccessToken),
      token_type: z.optional(z.unknown()),
      ...members,
    }),
    z.transform(({ access_token: accessToken, token_type, ...read }, context) => {
      const tokenType = readTokenType(token_type, accessToken)
      if (tokenType !== undefined) return toTokenResponse(accessToken, tokenType, read, read)
      context.issues.push({
        code: 'custom',
        input: token_type,
        path: ['token_type'],
        message: 'not supported',
      })
      return z.NEVER
    }),
  )
}

let schema: ReturnType<typeof createSchema> | undefined

/** A Standard Schema (https://standardschema.dev): libraries that validate accept it. */
export interface Schema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[] }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The token response in both formats of the platform's contract, and in that of RFC 6749, section 5.1. */
export const tokenResponseSchema: Schema<TokenResponse> = {
  '~standard': {
    version: 1,
    vendor: 'tokenwell',
    validate(value) {
      const { data, error } = z.safeParse((schema ??= createSchema()), value)
      return error ? { issues: error.issues } : { value: data }
    },
  },
}
