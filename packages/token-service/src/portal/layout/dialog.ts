import { html, type SafeHtml } from '@remix-run/html-template'
import { csrfInput } from './form.ts'

export interface DialogOptions {
  /** The element's ID, unique on the page. */
  readonly id: string
  /** The label of the button that opens the dialog. */
  readonly label: string | SafeHtml
  readonly title: string
  /** What happens on confirmation, and the fields of the form. */
  readonly body: SafeHtml
  readonly action: string
  readonly confirm: string
  readonly csrfToken: string
  /** Whether the action destroys something. @default false */
  readonly danger?: boolean | undefined
  /** Classes of the button that opens the dialog. @default 'outline' */
  readonly style?: string | undefined
}

/**
 * A button, and the dialog that it opens, with a form. It works without a script where browsers support invoker
 * commands; elsewhere, the script of every page opens it.
 */
export function dialog(options: DialogOptions): SafeHtml {
  const { id, label, title, body, action, confirm, csrfToken, danger = false, style = 'outline' } = options
  const variant = danger ? html`data-variant="danger"` : ''
  const opener = danger ? `${style} destructive` : style
  return html`<button
      type="button"
      class="${opener}"
      commandfor="${id}"
      command="show-modal"
      aria-haspopup="dialog"
    >
      ${label}
    </button>
    <dialog id="${id}" closedby="any" aria-labelledby="${id}-title">
      <form method="post" action="${action}">
        <header><h2 id="${id}-title">${title}</h2></header>
        <div>${csrfInput(csrfToken)} ${body}</div>
        <footer>
          <button type="button" class="outline" commandfor="${id}" command="close">Cancel</button>
          <button ${variant}>${confirm}</button>
        </footer>
      </form>
    </dialog>`
}
