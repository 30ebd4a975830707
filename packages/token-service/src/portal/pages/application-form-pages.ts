import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project, RegisteredClient } from '../../applications/application.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { choice, field, formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { page } from '../page/page.ts'

export interface NewApplicationContent {
  readonly project: Project
  readonly state: FormState
  readonly once: string
}

export function newApplicationPage(
  exchange: DeveloperExchange,
  { project, state, once }: NewApplicationContent,
): SafeHtml {
  const { paths, visit, developer } = exchange
  const body = html`<div class="narrow">
    ${mistakeSummary(state)}
    <form method="post" action="${paths.newApplication(project.id)}" class="card">
      ${formToken(visit)}
      <input type="hidden" name="once" value="${once}" />
      ${settings(state)}
      ${developer.administrator ? '' : html`<p class="hint">It gets tokens once the administrator has approved it.</p>`}
      <button>Create the application</button>
    </form>
  </div>`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(exchange, { title: 'New application', body, trail })
}

export function settingsPage(
  exchange: DeveloperExchange,
  { application, project }: RegisteredClient,
  state: FormState,
): SafeHtml {
  const { paths, visit } = exchange
  const body = html`<div class="narrow">
    ${mistakeSummary(state)}
    <form method="post" action="${paths.settings(project.id, application.id)}" class="card">
      ${formToken(visit)} ${settings(state)}
      <button>Save</button>
    </form>
  </div>`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
    [application.name, paths.application(project.id, application.id)],
  ] as const
  return page(exchange, { title: 'Settings', body, trail })
}

function settings(state: FormState): SafeHtml {
  return html` ${field({ name: 'name', label: 'Name of the application' }, state)}
  ${field({ name: 'products', label: 'API products', hint: 'What its tokens are good for, with commas between them.', required: false }, state)}
  ${field({ name: 'level', label: 'Level', hint: 'Told in the token response that ends with a refresh token.', required: false }, state)}
  ${choice(
    {
      name: 'response_form',
      label: 'Form of the token response',
      choices: [
        ['products', 'With the list of API products'],
        ['refresh', 'With level and refresh token (empty)'],
      ],
    },
    state,
  )}
  ${field({ name: 'lifetime_seconds', label: 'Lifetime of its tokens, in seconds', hint: '3600 is an hour, 86400 a day.', type: 'number' }, state)}`
}
