import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { copyable } from '../components/copyable.ts'
import { csrfInput } from '../components/form.ts'
import { page } from '../components/page.ts'
import { time } from '../components/time.ts'

/** A link that the administrator sends to somebody. */
export interface NewLink {
  readonly title: string
  readonly link: string
  /** Such as `7 days`. */
  readonly lifetime: string
}

export function developersPage(
  request: DeveloperRequest,
  developers: readonly Developer[],
  newLink?: NewLink,
): SafeHtml {
  const body = html` ${
      newLink === undefined
        ? ''
        : html`<section class="notice success" aria-labelledby="link-title">
            <h2 id="link-title">${newLink.title}</h2>
            <p>The link works once, for ${newLink.lifetime}. It is not shown again.</p>
            ${copyable({ id: 'link', value: newLink.link, what: 'link' })}
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
            ${administrator ? '' : [passwordLink(request, id, name), removal(request, id, name)]}
          </li>`,
      )}
    </ul>
    <form method="post" action="${request.paths.developers}">
      ${csrfInput(request.csrfToken)}
      <button>Create an invitation link</button>
    </form>`
  return page(request, { title: 'Developers', body })
}

function passwordLink({ paths, csrfToken }: DeveloperRequest, id: string, name: string): SafeHtml {
  return html`<details>
    <summary>Reset password <span class="visually-hidden">of ${name}</span></summary>
    <p>
      Create a link and send it to ${name}, who can then set a new password. The current password works until
      then.
    </p>
    <form method="post" action="${paths.passwordLink(id)}">
      ${csrfInput(csrfToken)}<button>Create a link</button>
    </form>
  </details>`
}

function removal({ paths, csrfToken }: DeveloperRequest, id: string, name: string): SafeHtml {
  return html`<details>
    <summary>Remove <span class="visually-hidden">${name}</span></summary>
    <p>
      ${name} is logged out and can no longer log in. The projects and their applications are kept, and
      continue to get tokens.
    </p>
    <form method="post" action="${paths.developerRemoval(id)}">
      ${csrfInput(csrfToken)}<button class="danger">Remove developer</button>
    </form>
  </details>`
}
