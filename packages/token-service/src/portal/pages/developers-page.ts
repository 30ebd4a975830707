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
        ({ id, name, administrator, createdAtMs }) =>
          html`<li class="card">
            <p>
              <strong>${name}</strong> ${administrator ? html`<span class="badge">administrator</span>` : ''}
            </p>
            <p class="hint">Joined ${time(createdAtMs)}</p>
            ${administrator ? '' : removal(exchange, id, name)}
          </li>`,
      )}
    </ul>
    <form method="post" action="${exchange.paths.developers}">
      ${formToken(exchange.visit)}
      <button>Make a link to invite someone</button>
    </form>`
  return page(exchange, { title: 'Developers', body })
}

function removal({ paths, visit }: DeveloperExchange, id: string, name: string): SafeHtml {
  return html`<details>
    <summary>Remove <span class="visually-hidden">${name}</span></summary>
    <p>
      ${name} is logged out, and cannot log in any more. The projects stay, for you to see; their applications
      go on getting tokens.
    </p>
    <form method="post" action="${paths.removal(id)}">
      ${formToken(visit)}<button class="danger">Remove the developer</button>
    </form>
  </details>`
}
