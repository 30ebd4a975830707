import { html, type SafeHtml } from '@remix-run/html-template'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'

import json from 'highlight.js/lib/languages/json'
import plaintext from 'highlight.js/lib/languages/plaintext'

import typescript from 'highlight.js/lib/languages/typescript'

export interface CopyableOptions {
  /** The element's ID, unique on the page. */
  readonly id: string
  readonly value: string
  /** What the button copies, for screen readers. */
  readonly what: string
}

/** A value with a copy button, which the script reveals. */
export function copyable({ id, value, what }: CopyableOptions): SafeHtml {
  return html`<span class="copyable"
    ><code id="${id}">${value}</code> ${copyButton(id, copyLabel(what))}</span
  >`
}

/** The client ID of the page's subject, below its title. */
export function clientIdLine(clientId: string): SafeHtml {
  return html`<p class="client-id">
    <span class="muted">Client ID</span> ${copyable({ id: 'client-id', value: clientId, what: 'client ID' })}
  </p>`
}

/** Copies the text of the element; the script reveals it. It replaces the label's first text for a moment. */
export function copyButton(id: string, label: string | SafeHtml): SafeHtml {
  return html`<button type="button" class="outline small" data-copy="${id}">${label}</button>`
}

/** "Copy", and for screen readers what. */
export function copyLabel(what: string): SafeHtml {
  return html`Copy<span class="visually-hidden"> the ${what}</span>`
}

/** An ID as a list shows it: its start, with a button that copies the whole. */
export function shortId(id: string, value: string, what: string): SafeHtml {
  const isShort = value.length <= 14
  return html`<span class="copyable short-id" title="${value}"
    ><code aria-hidden="true">${isShort ? value : `${value.slice(0, 8)}…`}</code
    ><span class="visually-hidden" id="${id}">${value}</span> ${copyButton(
      id,
      html`Copy<span class="visually-hidden"> the ${what}</span>`,
    )}</span
  >`
}

const languages = { bash, json, plaintext, typescript }
export type Language = keyof typeof languages

for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar)

/** Code with coloured syntax. With a `label`, it is a region that can be scrolled with the keyboard; `id` is that of its text. */
export function code(text: string, language: Language, label?: string, id?: string): SafeHtml {
  const highlighted = html.raw`${hljs.highlight(text, { language }).value}`
  const region = label === undefined ? '' : html`tabindex="0" role="region" aria-label="${label}"`
  return html`<pre ${region}><code ${id === undefined ? '' : html`id="${id}"`}>${highlighted}</code></pre>`
}

/** A sentence in which backticks mark code. */
export function inlineCode(text: string): SafeHtml {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
