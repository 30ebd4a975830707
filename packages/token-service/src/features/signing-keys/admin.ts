import { z } from 'zod'
import { ms, named, operation, type OperationGroup } from '../operation.ts'

const signingKey = named(
  'SigningKey',
  z.looseObject({
    kid: z.string(),
    algorithm: z.string(),
    state: z.enum(['next', 'current', 'last']),
    createdAtMs: ms,
    expiresAtMs: ms.optional().describe('Until when a `last` key is published.'),
  }),
)

const rotation = z
  .strictObject({
    emergency: z
      .boolean()
      .describe('Replaces all keys without an overlap: APIs reject every JWT that was issued before.'),
    overlapSeconds: z
      .int()
      .min(0)
      .describe(
        'How long the present key stays published; by default a day, or the longest lifetime of JWTs.',
      ),
  })
  .partial()

/** The keys of JWT access tokens. */
export const signingKeyOperations: OperationGroup = {
  heading: 'Signing keys',
  operations: [
    operation({
      method: 'get',
      path: '/signing-keys',
      command: 'signing-keys',
      summary: 'List the keys of JWT access tokens',
      response: z.array(signingKey),
      run: ({ signingKeys }) => signingKeys.list(),
    }),
    operation({
      method: 'post',
      path: '/signing-keys/rotation',
      command: 'rotate-signing-key',
      summary: 'Rotate the signing key, or replace all signing keys without an overlap (`emergency`)',
      body: rotation,
      response: z.array(signingKey),
      async run({ signingKeys }, { body, by }) {
        await signingKeys.rotate(by, body)
        return signingKeys.list()
      },
    }),
  ],
}
