import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { copyable } from '../page/copyable.ts'
import { formToken } from '../page/form.ts'
import { page } from '../page/page.ts'
import { time } from '../page/time.ts'

/** A link that is told to somebody else. */
export interface ShownLink {
  readonly title: string
  readonly link: string
}

export function developersPage(
  exchange: DeveloperExchange,
  developers: readonly Developer[],
  shown?: ShownLink,
): SafeHtml {
  const body = html` ${
      shown === undefined
        ? ''
        : html`<section class="notice good" aria-labelledby="link-title">
            <h2 id="link-title">${shown.title}</h2>
            <p>It works once, and for 15 minutes. It is not shown again.</p>
            ${copyable({ id: 'link', value: shown.link, what: 'link' })}
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
            ${administrator ? '' : [passwordLink(exchange, id, name), removal(exchange, id, name)]}
          </li>`,
      )}
    </ul>
    <form method="post" action="${exchange.paths.developers}">
      ${formToken(exchange.visit)}
      <button>Make a link to invite someone</button>
    </form>`
  return page(exchange, { title: 'Developers', body })
}

function passwordLink({ paths, visit }: DeveloperExchange, id: string, name: string): SafeHtml {
  return html`<details>
    <summary>Forgotten password <span class="visually-hidden">of ${name}</span></summary>
    <p>You get a link to send to ${name}, who sets a new password by it. Until then nothing changes.</p>
    <form method="post" action="${paths.passwordLink(id)}">
      ${formToken(visit)}<button>Make a link</button>
    </form>
  </details>`
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
