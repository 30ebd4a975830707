import { html, type SafeHtml } from '@remix-run/html-template'

/** The remaining part of a lifetime, from 0 to 1, as the water in a well. The text beside it says the same. */
export function well(remaining: number): SafeHtml {
  const level = Math.min(Math.max(remaining, 0), 1) * 12
  return html`<svg class="well" viewBox="0 0 20 20" aria-hidden="true">
    <rect x="5" y="${16 - level}" width="10" height="${level}" />
    <path d="M4 3v13a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V3" />
  </svg>`
}
