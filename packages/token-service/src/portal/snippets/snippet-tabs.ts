import { html, type SafeHtml } from '@remix-run/html-template'
import { code, copyButton, copyLabel } from '../layout/copyable.ts'
import { tabs } from '../layout/tabs.ts'
import type { Snippet } from './request-snippets.ts'

/** One snippet at a time. If a page has several such tabs: their unique name, and what they are about. */
export function snippetTabs(snippets: readonly Snippet[], name = 'snippet', about = ''): SafeHtml {
  return tabs({
    name,
    label: `Language${about}`,
    tabs: snippets.map(({ id, label, language, code: text }) => ({
      id,
      label,
      panel: html`${copyButton(`${name}-${id}`, copyLabel(`${label} snippet`))}
      ${code(text, language, label + about, `${name}-${id}`)}`,
    })),
  })
}
