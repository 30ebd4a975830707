import { html, type SafeHtml } from '@remix-run/html-template'

/** The values of a form and its errors, by field. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>
  readonly errors: Readonly<Record<string, string>>
  /** The ticked checkboxes. */
  readonly chosen?: readonly string[] | undefined
  /** The same of the scopes, next to the products. */
  readonly chosenScopes?: readonly string[] | undefined
}

export const emptyForm: FormState = { values: {}, errors: {} }

interface Labelled {
  readonly name: string
  /** The element's ID, if several fields of a page have that name. @default name */
  readonly id?: string | undefined
  readonly label: string
  readonly hint?: string | undefined
}

export interface FieldOptions extends Labelled {
  /** @default 'text' */
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | undefined
  /** @default 'off' */
  readonly autocomplete?: string | undefined
  readonly required?: boolean | undefined
  readonly minLength?: number | undefined
  readonly pattern?: string | undefined
  /** The ID of a `datalist` to choose from. */
  readonly list?: string | undefined
  /** Where the script asks for what the `datalist` contains while somebody types. */
  readonly suggestionsFrom?: string | undefined
  /** An element after the input, such as its unit. */
  readonly after?: SafeHtml | undefined
}

export const csrfFieldName = 'csrf_token'

/** The hidden field that `csrf-protection.ts` checks. */
export function csrfInput(csrfToken: string): SafeHtml {
  return html`<input type="hidden" name="${csrfFieldName}" value="${csrfToken}" />`
}

const revisionFieldName = 'revision'

/** The hidden field with the revision that the form shows, so that no change of somebody else gets lost. */
export function revisionInput(revision: string, { values }: FormState): SafeHtml {
  return html`<input
    type="hidden"
    name="${revisionFieldName}"
    value="${values[revisionFieldName] ?? revision}"
  />`
}

/** What {@link revisionInput} has sent. */
export function seenRevision({
  [revisionFieldName]: seen,
}: Readonly<Record<string, unknown>>): string | undefined {
  return typeof seen === 'string' ? seen : undefined
}

/** The form again, with the revision that it was sent with. */
export function withSeenRevision(state: FormState, form: Readonly<Record<string, unknown>>): FormState {
  const seen = seenRevision(form)
  return seen === undefined ? state : { ...state, values: { ...state.values, [revisionFieldName]: seen } }
}

export function field(options: FieldOptions, state: FormState): SafeHtml {
  const {
    name,
    id = name,
    type = 'text',
    autocomplete = 'off',
    required = true,
    minLength,
    pattern,
    list,
    suggestionsFrom,
    after = '',
  } = options
  const input = html`<input
      id="${id}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      spellcheck="false"
      value="${type === 'password' ? '' : state.values[name]}"
      ${required ? html`required` : ''}
      ${minLength ? html`minlength="${minLength}"` : ''}
      ${pattern ? html`pattern="${pattern}"` : ''}
      ${list ? html`list="${list}"` : ''}
      ${suggestionsFrom ? html`data-suggestions="${suggestionsFrom}"` : ''}
      ${noteAttributes(options, state)}
    />${after}`
  return labelled(
    { ...options, required },
    state,
    after === '' ? input : html`<fieldset class="group">${input}</fieldset>`,
  )
}

export interface TextAreaOptions extends Labelled {
  /** @default true */
  readonly required?: boolean | undefined
  /** @default 6 */
  readonly rows?: number | undefined
  /** Whether its lines are those of code. @default false */
  readonly isCode?: boolean | undefined
  /** The ID of its form, if it is outside of it. */
  readonly form?: string | undefined
}

export function textArea(options: TextAreaOptions, state: FormState): SafeHtml {
  const { name, id = name, required = true, rows = 6, isCode = false, form } = options
  return labelled(
    options,
    state,
    html`<textarea
      id="${id}"
      name="${name}"
      rows="${rows}"
      class="${isCode ? 'code' : ''}"
      ${form === undefined ? '' : html`form="${form}"`}
      spellcheck="false"
      ${required ? html`required` : ''}
      ${noteAttributes(options, state)}
    >
${state.values[name]}</textarea>`,
  )
}

export interface ChoiceOptions extends Labelled {
  readonly choices: readonly (readonly [value: string, label: string])[]
}

export function choice(options: ChoiceOptions, state: FormState): SafeHtml {
  const { name, choices } = options
  return labelled(
    options,
    state,
    html`<select id="${name}" name="${name}" ${noteAttributes(options, state)}>
      ${optionList(choices, state.values[name])}
    </select>`,
  )
}

export function optionList(choices: ChoiceOptions['choices'], chosen: string | undefined): SafeHtml[] {
  return choices.map(
    ([value, text]) =>
      html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${text}</option>`,
  )
}

export interface CheckboxesOptions extends Labelled {
  readonly choices: readonly string[]
  /** What is said about choices. */
  readonly hints?: ReadonlyMap<string, string> | undefined
}

export function checkboxes(
  { name, label, hint, choices, hints }: CheckboxesOptions,
  { chosen = [] }: FormState,
): SafeHtml {
  return html`<fieldset>
    <legend>${label}</legend>
    ${hint === undefined ? '' : html`<p class="hint">${hint}</p>`}
    ${choices.map(
      (value) =>
        html`<label
          ><input
            type="checkbox"
            name="${name}"
            value="${value}"
            ${chosen.includes(value) ? html`checked` : ''}
          />
          <span
            >${value}
            ${hints?.has(value) ? html`<br /><span class="hint">${hints.get(value)}</span>` : ''}</span
          ></label
        >`,
    )}
  </fieldset>`
}

function labelled(
  { name, id = name, label, hint, required = true }: Labelled & { readonly required?: boolean | undefined },
  { errors }: FormState,
  control: SafeHtml,
): SafeHtml {
  const error = errors[name]
  return html`<div data-field="${error === undefined ? '' : 'error'}">
    <label for="${id}">${label}${required ? '' : html` <span class="muted">(optional)</span>`}</label>
    ${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`} ${control}
    ${error === undefined ? '' : html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`
}

/** Links the control to its hint and error; the first invalid one gets the focus. */
function noteAttributes({ name, hint }: Labelled, { errors }: FormState): SafeHtml {
  const isInvalid = errors[name] !== undefined
  const ids = [hint !== undefined && `${name}-hint`, isInvalid && `${name}-error`].filter(Boolean)
  const isFirst = Object.keys(errors)[0] === name
  return html`${ids.length > 0 ? html`aria-describedby="${ids.join(' ')}"` : ''}
  ${isInvalid ? html`aria-invalid="true"` : ''} ${isFirst ? html`autofocus` : ''}`
}
