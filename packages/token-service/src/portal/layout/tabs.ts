import { html, type SafeHtml } from '@remix-run/html-template'

export interface Tab {
  /** The element's ID, unique on the page. */
  readonly id: string
  readonly label: string
  readonly panel: SafeHtml
}

export interface TabsOptions {
  /** Unique on the page. */
  readonly name: string
  /** What one chooses, for screen readers. */
  readonly label: string
  readonly tabs: readonly Tab[]
}

/** One panel at a time, chosen by radio buttons: it works without a script. */
export function tabs({ name, label, tabs: all }: TabsOptions): SafeHtml {
  return html`<div class="tabs">
    <fieldset>
      <legend class="visually-hidden">${label}</legend>
      <div>
        ${all.map(
          ({ id, label: text }, index) =>
            html`<label
              ><input
                type="radio"
                name="${name}"
                value="${id}"
                data-tab="${index}"
                ${index === 0 ? html`checked` : ''}
              />${text}</label
            >`,
        )}
      </div>
    </fieldset>
    ${all.map(({ panel }, index) => html`<div class="panel" data-panel="${index}">${panel}</div>`)}
  </div>`
}
