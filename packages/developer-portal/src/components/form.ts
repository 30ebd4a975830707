import { html, type SafeHtml } from '@remix-run/html-template'

/** The values of a form and its errors, by field. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>
  readonly errors: Readonly<Record<string, string>>
  /** The ticked checkboxes. */
  readonly chosen?: readonly string[] | undefined
}

export const emptyForm: FormState = { values: {}, errors: {} }

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

export const csrfFieldName = 'csrf_token'

/** The hidden field that `csrf-protection.ts` checks. */
export function csrfInput(csrfToken: string): SafeHtml {
  return html`<input type="hidden" name="${csrfFieldName}" value="${csrfToken}" />`
}

export function field(options: FieldOptions, { values, errors }: FormState): SafeHtml {
  const { name, label, hint, type = 'text', autocomplete = 'off', required = true, minLength } = options
  const error = errors[name]
  return html`<div class="field">
    <label for="${name}">${label}${required ? '' : html` <span class="optional">(optional)</span>`}</label>
    ${fieldNotes(name, hint, error)}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      spellcheck="false"
      value="${type === 'password' ? '' : values[name]}"
      ${required ? html`required` : ''}
      ${minLength ? html`minlength="${minLength}"` : ''}
      ${describedBy(name, hint, error)}
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
  { values, errors }: FormState,
): SafeHtml {
  const error = errors[name]
  const chosen = values[name]
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${fieldNotes(name, hint, error)}
    <select id="${name}" name="${name}" ${describedBy(name, hint, error)}>
      ${choices.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${text}</option>`,
      )}
    </select>
  </div>`
}

export interface CheckboxesOptions {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly choices: readonly string[]
}

export function checkboxes(
  { name, label, hint, choices }: CheckboxesOptions,
  { chosen = [] }: FormState,
): SafeHtml {
  return html`<fieldset class="field">
    <legend>${label}</legend>
    ${hint === undefined ? '' : html`<p class="hint">${hint}</p>`}
    ${choices.map(
      (value) =>
        html`<label class="checkbox"
          ><input
            type="checkbox"
            name="${name}"
            value="${value}"
            ${chosen.includes(value) ? html`checked` : ''}
          />
          ${value}</label
        >`,
    )}
  </fieldset>`
}

/** Lists the errors above a form, with links to its fields. */
export function errorSummary({ errors }: FormState): SafeHtml | string {
  const all = Object.entries(errors)
  if (all.length === 0) return ''
  return html`<div class="notice error" role="alert">
    <p>${all.length === 1 ? 'Please correct the field below:' : 'Please correct the fields below:'}</p>
    <ul>
      ${all.map(([name, error]) => html`<li><a href="#${name}">${error}</a></li>`)}
    </ul>
  </div>`
}

function fieldNotes(name: string, hint: string | undefined, error: string | undefined): SafeHtml[] {
  return [
    ...(hint === undefined ? [] : [html`<p class="hint" id="${name}-hint">${hint}</p>`]),
    ...(error === undefined ? [] : [html`<p class="field-error" id="${name}-error">${error}</p>`]),
  ]
}

function describedBy(name: string, hint: string | undefined, error: string | undefined): SafeHtml {
  const ids = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean)
  const by = ids.length > 0 ? html`aria-describedby="${ids.join(' ')}"` : html``
  return html`${by} ${error === undefined ? '' : html`aria-invalid="true"`}`
}
