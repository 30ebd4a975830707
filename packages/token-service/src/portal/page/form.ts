import { html, type SafeHtml } from '@remix-run/html-template'
import type { Visit } from '../visit.ts'

/** What was typed into a form, and what is wrong with it, by field. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>
  readonly mistakes: Readonly<Record<string, string>>
}

export const emptyForm: FormState = { values: {}, mistakes: {} }

export interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  /** @default 'text' */
  readonly type?: 'text' | 'email' | 'password' | 'number' | undefined
  /** @default 'off' */
  readonly autocomplete?: string | undefined
  readonly required?: boolean | undefined
  readonly minLength?: number | undefined
}

export function formToken({ formToken }: Visit): SafeHtml {
  return html`<input type="hidden" name="form_token" value="${formToken}" />`
}

export function field(options: FieldOptions, { values, mistakes }: FormState): SafeHtml {
  const { name, label, hint, type = 'text', autocomplete = 'off', required = true, minLength } = options
  const mistake = mistakes[name]
  return html`<div class="field">
    <label for="${name}">${label}${required ? '' : html` <span class="optional">(optional)</span>`}</label>
    ${aboutField(name, hint, mistake)}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      spellcheck="false"
      value="${type === 'password' ? '' : values[name]}"
      ${required ? html`required` : ''}
      ${minLength ? html`minlength="${minLength}"` : ''}
      ${describedBy(name, hint, mistake)}
    />
  </div>`
}

export interface ChoiceOptions {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly choices: readonly (readonly [value: string, label: string])[]
}

export function choice(
  { name, label, hint, choices }: ChoiceOptions,
  { values, mistakes }: FormState,
): SafeHtml {
  const mistake = mistakes[name]
  const chosen = values[name]
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${aboutField(name, hint, mistake)}
    <select id="${name}" name="${name}" ${describedBy(name, hint, mistake)}>
      ${choices.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${text}</option>`,
      )}
    </select>
  </div>`
}

/** Says at the top of a form that something in it is wrong, and leads there. */
export function mistakeSummary({ mistakes }: FormState): SafeHtml | string {
  const all = Object.entries(mistakes)
  if (all.length === 0) return ''
  return html`<div class="notice bad" role="alert">
    <p>Please mend this first:</p>
    <ul>
      ${all.map(([name, mistake]) => html`<li><a href="#${name}">${mistake}</a></li>`)}
    </ul>
  </div>`
}

function aboutField(name: string, hint: string | undefined, mistake: string | undefined): SafeHtml[] {
  return [
    ...(hint === undefined ? [] : [html`<p class="hint" id="${name}-hint">${hint}</p>`]),
    ...(mistake === undefined ? [] : [html`<p class="mistake" id="${name}-mistake">${mistake}</p>`]),
  ]
}

function describedBy(name: string, hint: string | undefined, mistake: string | undefined): SafeHtml {
  const ids = [hint !== undefined && `${name}-hint`, mistake !== undefined && `${name}-mistake`].filter(
    Boolean,
  )
  const by = ids.length > 0 ? html`aria-describedby="${ids.join(' ')}"` : html``
  return html`${by} ${mistake === undefined ? '' : html`aria-invalid="true"`}`
}
