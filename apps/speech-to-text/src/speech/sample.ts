import * as z from 'zod/mini'
import { expectedSchema } from './speech-api-response.ts'

/** Describes the recordings in `samples/`: what is expected in each, and the transcript. */
export const samplesSchema = z.array(
  z.object({ file: z.string(), expected: expectedSchema, text: z.string() }),
)
export type Sample = z.infer<typeof samplesSchema>[number]
