import { z } from 'zod'
import { UserMistake } from '../user-mistake.ts'
import type { ApplicationStatus, ResponseForm } from './application.ts'

/** An application that exists when the service starts. */
export interface ApplicationOptions {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  /** When `clientSecret` ends, as an ISO date. @default never */
  readonly clientSecretExpiresAt?: string | undefined
  /** The API products its tokens are good for. @default [] */
  readonly products?: readonly string[] | undefined
  /** @default '' */
  readonly level?: string | undefined
  /** Which of the two forms of the token response it is answered in. @default 'products' */
  readonly responseForm?: ResponseForm | undefined
  /** How long its tokens live, in seconds. @default 3600 */
  readonly lifetimeSeconds?: number | undefined
  /** Only an approved application gets tokens. @default 'approved' */
  readonly status?: ApplicationStatus | undefined
  /** The project it belongs to, made when there is none of that name. @default 'default' */
  readonly project?: string | undefined
  /** Of the project, when it is made. @default 'example-org' */
  readonly organizationName?: string | undefined
  /** Of the project, when it is made. @default 'developer@example.com' */
  readonly developerEmail?: string | undefined
}

const printable = z.string().regex(/^[\x20-\x7e]{1,512}$/, 'must be 1 to 512 printable ASCII characters')
const name = z.string().min(1).max(200)

/** Products are listed as `[a, b]`: their names may hold neither comma nor bracket. */
const product = z.string().regex(/^[^,[\]\s](?:[^,[\]]*[^,[\]\s])?$/, 'must hold no comma and no bracket')

export const applicationSchema = z.strictObject({
  name,
  clientId: printable,
  clientSecret: printable,
  clientSecretExpiresAt: z.iso.datetime({ offset: true }).optional(),
  products: z.array(product).default([]),
  level: z.string().max(200).default(''),
  responseForm: z.enum(['products', 'refresh']).default('products'),
  lifetimeSeconds: z.int().min(1).max(31_536_000).default(3600),
  status: z.enum(['approved', 'pending', 'revoked']).default('approved'),
  project: name.default('default'),
  organizationName: name.default('example-org'),
  developerEmail: name.default('developer@example.com'),
})

export type ResolvedApplication = z.output<typeof applicationSchema>

/** Checks them, and says which field of which is wrong. */
export function resolveApplications(applications: unknown): ResolvedApplication[] {
  const result = z.array(applicationSchema).safeParse(applications)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const place = issue?.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
  throw new UserMistake(`The setting applications${place ?? ''} is wrong: ${issue?.message ?? 'not a list'}.`)
}
