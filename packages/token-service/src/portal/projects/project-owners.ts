import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../features/people/storage.ts'
import type { Project } from '../../storage/application.ts'
import { dialog } from '../layout/dialog.ts'
import { choice, emptyForm } from '../layout/form.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface OwnersContent {
  readonly project: Project
  readonly owners: readonly Developer[]
  /** Whom an administrator can add. */
  readonly otherDevelopers: readonly Developer[]
}

/** Who owns a project; administrators can change it. */
export function owners(
  { paths, csrfToken, developer }: DeveloperRequest,
  { project, owners: all, otherDevelopers }: OwnersContent,
): SafeHtml {
  const action = paths.owners(project.id)
  return html`<section aria-labelledby="owners">
    <div class="bar">
      <h2 id="owners">Owners</h2>
      ${
        developer.administrator && otherDevelopers.length > 0
          ? html`<div class="actions">
              ${dialog({
                id: 'add-owner',
                label: 'Add owner',
                title: `Add an owner to ${project.name}`,
                body: html`<p>An owner sees the project, registers applications and manages their secrets.</p>
                  ${choice(
                    {
                      name: 'add',
                      label: 'Developer',
                      choices: otherDevelopers.map(({ id, name }) => [id, name]),
                    },
                    emptyForm,
                  )}`,
                action,
                confirm: 'Add owner',
                csrfToken,
              })}
            </div>`
          : ''
      }
    </div>
    ${
      all.length === 0
        ? html`<p class="muted">Only administrators have access.</p>`
        : html`<ul class="rows">
            ${all.map(
              ({ id, name }) =>
                html`<li class="bar">
                  <p>${name}</p>
                  ${
                    developer.administrator
                      ? html`<div class="actions">
                          ${dialog({
                            id: `remove-owner-${id}`,
                            label: html`Remove<span class="visually-hidden"> ${name}</span>`,
                            style: 'ghost small',
                            title: `Remove ${name} as an owner?`,
                            body: html`<input type="hidden" name="remove" value="${id}" />
                              <p>
                                ${name} can no longer see ${project.name}. Its applications continue to get
                                tokens.
                              </p>`,
                            action,
                            confirm: 'Remove owner',
                            csrfToken,
                            danger: true,
                          })}
                        </div>`
                      : ''
                  }
                </li>`,
            )}
          </ul>`
    }
  </section>`
}
