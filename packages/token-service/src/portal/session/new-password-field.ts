import type { SafeHtml } from '@remix-run/html-template'
import { field, type FormState } from '../layout/form.ts'

/** The field for a new password. */
export function newPasswordField(
  { name, label }: { readonly name: string; readonly label: string },
  state: FormState,
): SafeHtml {
  const hint = 'At least 12 characters. Several words make a good password.'
  return field({ name, label, hint, type: 'password', autocomplete: 'new-password', minLength: 12 }, state)
}
