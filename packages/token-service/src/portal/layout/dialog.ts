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
 * A button, and the dialog that it opens, with a form. It works without a script: by an invoker command, and as a
 * popover in browsers that do not support them.
 */
export function dialog(options: DialogOptions): SafeHtml {
  const { id, label, title, body, action, confirm, csrfToken, danger = false, style = 'outline' } = options
  const variant = danger ? html`data-variant="danger"` : ''
  return html`<button
      type="button"
      class="${style}"
      ${variant}
      commandfor="${id}"
      command="show-modal"
      popovertarget="${id}"
      aria-haspopup="dialog"
    >
      ${label}
    </button>
    <dialog id="${id}" popover closedby="any" aria-labelledby="${id}-title">
      <form method="post" action="${action}">
        <header><h2 id="${id}-title">${title}</h2></header>
        <div>${csrfInput(csrfToken)} ${body}</div>
        <footer>
          <button
            type="button"
            class="outline"
            commandfor="${id}"
            command="close"
            popovertarget="${id}"
            popovertargetaction="hide"
          >
            Cancel
          </button>
          <button ${variant}>${confirm}</button>
        </footer>
      </form>
    </dialog>`
}
