import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { copyable } from '../page/copyable.ts'
import { formToken } from '../page/form.ts'
import { page } from '../page/page.ts'
import { time } from '../page/time.ts'

export function developersPage(
  exchange: DeveloperExchange,
  developers: readonly Developer[],
  link?: string,
): SafeHtml {
  const body = html` ${
      link === undefined
        ? ''
        : html`<section class="notice good" aria-labelledby="link-title">
            <h2 id="link-title">Send this link to the new developer</h2>
            <p>It works once, and for 15 minutes. It is not shown again.</p>
            ${copyable({ id: 'link', value: link, what: 'link' })}
          </section>`
    }
    <ul class="cards">
      ${developers.map(
        ({ name, administrator, createdAtMs }) =>
          html`<li class="card">
            <p>
              <strong>${name}</strong> ${administrator ? html`<span class="badge">administrator</span>` : ''}
            </p>
            <p class="hint">Joined ${time(createdAtMs)}</p>
          </li>`,
      )}
    </ul>
    <form method="post" action="${exchange.paths.developers}">
      ${formToken(exchange.visit)}
      <button>Make a link to invite someone</button>
    </form>`
  return page(exchange, { title: 'Developers', body })
}
