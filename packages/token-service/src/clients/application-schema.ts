import { z } from 'zod'
import {
  defaultLifetimeSeconds,
  productNamePattern,
  responseForms,
  scopePattern,
} from './application-options.ts'

const printable = z.string().regex(/^[\x20-\x7e]{1,512}$/, 'must be 1 to 512 printable ASCII characters')
const name = z.string().min(1).max(200)

export const productName = z
  .string()
  .min(1)
  .regex(productNamePattern, 'must not contain commas or brackets, or start or end with a space')

export const scopeName = z
  .string()
  .regex(scopePattern, 'must be 1 to 200 printable ASCII characters, without spaces, quotes and backslashes')

export const applicationSchema = z.strictObject({
  name,
  clientId: printable,
  clientSecret: printable.optional(),
  clientSecretExpiresAt: z.iso.datetime({ offset: true }).optional(),
  jwks: z.object({ keys: z.array(z.looseObject({})) }).optional(),
  jwksUrl: z.string().optional(),
  publicKey: z.string().optional(),
  products: z.array(productName).default([]),
  scopes: z.array(scopeName).default([]),
  level: z.string().max(200).default(''),
  responseForm: z.enum(responseForms).default('products'),
  lifetimeSeconds: z.int().min(1).max(31_536_000).default(defaultLifetimeSeconds),
  status: z.enum(['approved', 'pending', 'revoked']).default('approved'),
  project: name.default('default'),
  organizationName: name.default('example-org'),
  developerEmail: name.default('developer@example.com'),
})

export const resourceServerSchema = z.strictObject({
  clientId: z.string().min(1),
  ...applicationSchema.pick({ clientSecret: true, jwks: true, jwksUrl: true, publicKey: true }).shape,
  name: name.optional(),
})
