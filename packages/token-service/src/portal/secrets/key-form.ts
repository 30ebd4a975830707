import { z } from 'zod'
import { UsageError } from '../../runtime/usage-error.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { FormState } from '../layout/form.ts'
import { PortalError } from '../portal-error.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'

const keyForm = z.object({ key: z.string(), name: optionalLine(200) })
const nameForm = z.object({ name: line(200) })

/** Adds the key of the form; returns what is wrong with it. */
export async function addKeyOfForm(
  form: RawParameters,
  add: (key: string, name?: string) => Promise<unknown>,
): Promise<FormState | undefined> {
  const parsed = parseForm(keyForm, form)
  if (!parsed.data) return parsed.state
  const { key, name } = parsed.data
  try {
    await add(key, name || undefined)
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // A private key that was pasted by mistake is not sent back.
    const values = { name, key: key.includes('PRIVATE') ? '' : key }
    return { values, errors: { key: error.message } }
  }
}

/** The new name of a key. The browser checks the field: nothing else is sent by the portal's pages. */
export function keyNameOfForm(form: RawParameters): string {
  const { data } = parseForm(nameForm, form)
  if (!data) throw new PortalError('invalid_form')
  return data.name
}
