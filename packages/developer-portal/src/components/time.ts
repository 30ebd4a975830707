import { html, type SafeHtml } from '@remix-run/html-template'

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

export function time(ms: number): SafeHtml {
  const date = new Date(ms)
  return html`<time datetime="${date.toISOString()}">${format.format(date)} UTC</time>`
}
