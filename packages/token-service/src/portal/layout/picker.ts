import { html, type SafeHtml } from '@remix-run/html-template'
import { field, type FieldOptions, type FormState } from './form.ts'

/** What can be picked: its name as one types it, and what tells it from others. */
export interface Suggestion {
  readonly text: string
  readonly hint?: string | undefined
}

export interface PickerOptions extends Omit<FieldOptions, 'list'> {
  /** All of them, or the first ones if `suggestionsFrom` has more. */
  readonly suggestions: readonly Suggestion[]
}

/** A field for the name of one of many things, with suggestions. Without a script, it suggests the first ones, and takes any name. */
export function picker({ suggestions, ...options }: PickerOptions, state: FormState): SafeHtml {
  const list = `${options.id ?? options.name}-suggestions`
  return html`${field({ ...options, list }, state)}
    <datalist id="${list}">
      ${suggestions.map(({ text, hint }) => html`<option value="${text}">${hint}</option>`)}
    </datalist>`
}
