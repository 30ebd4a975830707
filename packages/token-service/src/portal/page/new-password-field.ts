import type { SafeHtml } from '@remix-run/html-template'
import { field, type FormState } from './form.ts'

/** Where a developer types a password for the first time. */
export function newPasswordField(
  { name, label }: { readonly name: string; readonly label: string },
  state: FormState,
): SafeHtml {
  const hint = 'At least 12 characters; a few words in a row are good.'
  return field({ name, label, hint, type: 'password', autocomplete: 'new-password', minLength: 12 }, state)
}
