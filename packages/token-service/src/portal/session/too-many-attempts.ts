import type { FormState } from '../layout/form.ts'
import type { PortalResponse } from '../portal-request.ts'

/** The response to a form with a password after too many wrong ones. */
export function tooManyAttempts(
  retryAfterSeconds: number,
  values: FormState['values'],
  show: (state: FormState) => PortalResponse,
): PortalResponse {
  const minutes = Math.ceil(retryAfterSeconds / 60)
  const message = `Too many wrong passwords. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  return { ...show({ values, errors: { password: message } }), status: 429, retryAfterSeconds }
}
