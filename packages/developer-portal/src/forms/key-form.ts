import { UsageError } from '@tokenwell/token-service'
import type { RawParameters } from '@tokenwell/token-service/plugin'
import type { FormState } from '../components/form.ts'
import { PortalError } from '../request/portal-error.ts'

/** Adds the key of the form; returns what is wrong with it. */
export async function addKeyOfForm(
  { key }: RawParameters,
  add: (key: string) => Promise<unknown>,
): Promise<FormState | undefined> {
  if (typeof key !== 'string') throw new PortalError('invalid_form')
  try {
    await add(key)
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // A private key that was pasted by mistake is not sent back.
    const values = { key: key.includes('PRIVATE') ? '' : key }
    return { values, errors: { key: error.message } }
  }
}
