import { z } from 'zod'
import { applicationSchema } from '../applications/settings.ts'
import { audiences } from '../catalogue/settings.ts'

export const resourceServerSchema = z.strictObject({
  clientId: z.string().min(1),
  ...applicationSchema.pick({ clientSecret: true, jwks: true, jwksUrl: true, publicKey: true }).shape,
  name: applicationSchema.shape.name.optional(),
  audiences: audiences.optional(),
})
