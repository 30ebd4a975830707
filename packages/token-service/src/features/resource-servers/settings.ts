import { z } from 'zod'
import { applicationSchema } from '../applications/settings.ts'
import { audiences } from '../catalogue/settings.ts'

export const resourceServerSchema = z.strictObject({
  ...applicationSchema.pick({
    clientId: true,
    clientSecret: true,
    jwks: true,
    jwksUrl: true,
    publicKey: true,
  }).shape,
  name: applicationSchema.shape.name.optional(),
  audiences: audiences.optional(),
})
