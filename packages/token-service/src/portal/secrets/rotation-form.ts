import { z } from 'zod'
import type { RawParameters } from '../../oauth/raw-parameters.ts'
import type { StoredSecret } from '../../storage/application.ts'
import { PortalError } from '../portal-error.ts'
import { describeOverlap, overlaps } from './secret-overlaps.ts'

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
