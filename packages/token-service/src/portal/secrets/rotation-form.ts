import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { StoredSecret } from '../../storage/application.ts'
import { PortalError } from '../portal-error.ts'

/** When existing secrets expire after a rotation: the form's value, its label, and the seconds. */
export const overlaps = [
  ['hour', 'in 1 hour', 3_600],
  ['day', 'in 1 day', 86_400],
  ['week', 'in 7 days', 7 * 86_400],
  ['month', 'in 30 days', 30 * 86_400],
  ['never', 'as before (revoke them later)', Infinity],
  ['now', 'now (requests that use them fail at once)', 0],
] as const

/** What a rotation did to the existing secrets, and what to do next. */
function describeOverlap([, label, seconds]: (typeof overlaps)[number]): string {
  if (seconds === 0) return 'The existing secrets have expired. Deploy the new secret at once.'
  return seconds === Infinity
    ? 'The expiry of the existing secrets is unchanged. Deploy the new secret, check that the existing ones are no longer used, and revoke them.'
    : `The existing secrets expire ${label}. Deploy the new secret before then.`
}

/** The ID that a form assigns to what it creates: sending it twice creates it once. */
export const submissionForm = z.object({ submission_id: z.uuid() })

const maxSecrets = 10
const rotationForm = submissionForm.extend({ overlap: z.enum(overlaps.map(([value]) => value)) })

export interface Rotation {
  /** Of the new secret. */
  readonly secretId: string
  readonly overlapMs: number
  /** What happens to the existing secrets; `undefined` without any. */
  readonly existingSecrets?: string | undefined
}

/** `secrets`: the existing ones. */
export function parseRotation(
  form: RawParameters,
  secrets: readonly Pick<StoredSecret, 'id' | 'expiresAtMs'>[],
  nowMs: number,
): Rotation {
  const { data } = rotationForm.safeParse(form)
  if (!data) throw new PortalError('invalid_form')
  const valid = secrets.filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs)
  const wasSent = secrets.some(({ id }) => id === data.submission_id)
  if (valid.length >= maxSecrets && !wasSent) throw new PortalError('too_many_secrets')
  const overlap = overlaps.find(([value]) => value === data.overlap)!
  return {
    secretId: data.submission_id,
    overlapMs: overlap[2] * 1000,
    existingSecrets: valid.length > 0 ? describeOverlap(overlap) : undefined,
  }
}
