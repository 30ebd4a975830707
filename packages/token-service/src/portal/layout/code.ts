import { html, type SafeHtml } from '@remix-run/html-template'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import typescript from 'highlight.js/lib/languages/typescript'

const languages = { bash, go, ini, json, python, typescript }
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
