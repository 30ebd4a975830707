import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer, Invitation } from '../../storage/developer-storage.ts'
import type { ListedProject, ListPage } from '../../storage/listing-storage.ts'
import { copyable } from '../layout/copyable.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput } from '../layout/form.ts'
import { moreMenu } from '../layout/menus.ts'
import type { PageContent } from '../layout/page.ts'
import { pages, searchField, type Paging } from '../layout/paging.ts'
import { absent, relativeTime } from '../layout/time.ts'
import { hasPassword } from '../session/link-pages.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** A link that the administrator sends to somebody. */
export interface NewLink {
  readonly title: string
  readonly link: string
  /** Such as `7 days`. */
  readonly lifetime: string
}

interface ListedDeveloper extends Developer {
  readonly projects: ListPage<ListedProject>
}

export interface DevelopersContent {
  readonly developers: readonly ListedDeveloper[]
  readonly invitations: readonly Invitation[]
  readonly nowMs: number
  readonly newLink?: NewLink | undefined
  readonly paging: Paging
  readonly total: number
  readonly localPasswords: boolean
}

export function developersPage(request: DeveloperRequest, content: DevelopersContent): PageContent {
  const { developers, invitations, nowMs, newLink, paging, total, localPasswords } = content
  const body = html` ${
      newLink === undefined
        ? ''
        : html`<section class="notice" data-variant="warning" aria-labelledby="link-title">
            <h2 id="link-title">${newLink.title}</h2>
            <p>The link works only once and expires after ${newLink.lifetime}. It is not shown again.</p>
            ${copyable({ id: 'link', value: newLink.link, what: 'link' })}
          </section>`
    }
    <form method="get" action="${request.paths.developers}" class="filter" role="search">
      ${searchField(paging.search, 'Search people')}
      <button class="outline">Search</button>
    </form>
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col">Projects</th>
          <th scope="col">Joined</th>
          <th scope="col"><span class="visually-hidden">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${developers.map(
          (each) =>
            html`<tr>
              <td data-label="Name">${nameOf(each, request)}</td>
              <td data-label="Role">${each.administrator ? 'Administrator' : 'Developer'}</td>
              <td data-label="Projects">${projectNames(each.projects)}</td>
              <td data-label="Joined">${relativeTime(each.createdAtMs, nowMs)}</td>
              <td class="action">${actionsOn(request, each, hasPassword(each, localPasswords))}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${invitations.length === 0 ? '' : openInvitations(request, invitations, nowMs)}
    ${pages({ path: request.paths.developers, query: { q: paging.search }, paging, total, noun: 'people' })}`
  const actions = html`<form method="post" action="${request.paths.developers}">
    ${csrfInput(request.csrfToken)}<button>Invite developer</button>
  </form>`
  return { title: 'People', body, actions }
}

/** The links themselves are not stored. */
function openInvitations(
  { paths, csrfToken }: DeveloperRequest,
  invitations: readonly Invitation[],
  nowMs: number,
): SafeHtml {
  return html`<section aria-labelledby="invitations">
    <h2 id="invitations">Open invitations</h2>
    <ul class="rows">
      ${invitations.map(
        ({ hash, administrator, expiresAtMs }) =>
          html`<li class="bar">
            <p>
              For ${administrator ? 'the first administrator' : 'a developer'}, expires
              ${relativeTime(expiresAtMs, nowMs)}
            </p>
            <form class="actions" method="post" action="${paths.invitationWithdrawal(hash)}">
              ${csrfInput(csrfToken)}<button class="small outline">Withdraw</button>
            </form>
          </li>`,
      )}
    </ul>
  </section>`
}

function nameOf({ id, name }: Developer, { developer }: DeveloperRequest): SafeHtml {
  return html`<strong>${name}</strong>${id === developer.id ? html` <span class="muted">(you)</span>` : ''}`
}

export const shownProjects = 3

function projectNames({ items, total }: ListPage<ListedProject>): SafeHtml {
  const more = total - items.length
  return html`${items.map(({ project }) => project.name).join(', ') || absent()}${more > 0 ? ` and ${more} more` : ''}`
}

function actionsOn(
  { paths, csrfToken }: DeveloperRequest,
  { id, name, administrator }: Developer,
  withPassword: boolean,
): SafeHtml | '' {
  const items = [
    dialog({
      id: `role-${id}`,
      label: html`${administrator ? 'Demote' : 'Promote'}<span class="visually-hidden"> ${name}</span>`,
      style: 'ghost',
      title: administrator ? `Make ${name} a developer?` : `Make ${name} an administrator?`,
      body: html`<input type="hidden" name="administrator" value="${administrator ? 'no' : 'yes'}" />
        <p>
          ${
            administrator
              ? `${name} will keep their own projects, but can no longer approve applications or manage people. Links that they created stop working.`
              : `${name} will see every project, approve applications, and manage people, products and resource servers.`
          }
        </p>`,
      action: paths.role(id),
      confirm: administrator ? 'Demote to developer' : 'Promote to administrator',
      csrfToken,
      danger: administrator,
    }),
    dialog({
      id: `password-${id}`,
      label: withPassword
        ? html`Reset password<span class="visually-hidden"> of ${name}</span>`
        : html`Create log-in link<span class="visually-hidden"> for ${name}</span>`,
      style: 'ghost',
      title: withPassword ? `Reset the password of ${name}` : `Create a log-in link for ${name}`,
      body: html`<p>
        You get a link to send to ${name}, who can then
        ${
          withPassword
            ? 'set a new password. The current password works until then.'
            : 'log in with it, once.'
        }
      </p>`,
      action: paths.passwordLink(id),
      confirm: 'Create link',
      csrfToken,
    }),
    dialog({
      id: `remove-${id}`,
      label: html`Remove<span class="visually-hidden"> ${name}</span>`,
      style: 'ghost',
      title: `Remove ${name}?`,
      body: html`<p>
        ${name} will be logged out and can no longer log in. Their projects are kept, and the applications
        continue to get tokens.
      </p>`,
      action: paths.developerRemoval(id),
      confirm: 'Remove developer',
      csrfToken,
      danger: true,
    }),
  ]
  return moreMenu({ id: `more-${id}`, about: name, items })
}
