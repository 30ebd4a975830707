import { type SafeHtml, html } from '@remix-run/html-template'
import { type SettingsContent, settingsFields } from './application-form.ts'
import { applicationFrame } from './application-frame.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { type FormState, csrfInput, emptyForm, textArea, revisionInput } from '../../portal/layout/form.ts'
import { picker, type PickerOptions } from '../../portal/layout/picker.ts'
import { type DangerRow, dangerSection, endsForOthers } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import type { RegisteredClient } from '../../storage/application.ts'

interface ChangeSettingsContent extends SettingsContent {
  /** Where the application can be moved to. */
  readonly projects: Pick<PickerOptions, 'suggestions' | 'suggestionsFrom'>
}

interface NewApplicationContent extends ChangeSettingsContent {
  readonly submissionId: string
}

export function newApplicationPage(
  request: DeveloperRequest,
  { projects, submissionId, ...content }: NewApplicationContent,
): PageContent {
  const { paths, csrfToken, developer } = request
  const { state } = content
  const body = html`<form method="post" action="${paths.newApplication}" class="card form">
    ${csrfInput(csrfToken)}
    <input type="hidden" name="submission_id" value="${submissionId}" />
    ${picker({ ...projects, name: 'project', label: 'Project' }, state)} ${settingsFields(content)}
    ${
      developer.administrator
        ? ''
        : html`${note(state)}
            <p class="hint">The application can get tokens after an administrator has approved it.</p>`
    }
    <p class="finish"><button>Create application</button></p>
  </form>`
  return { title: 'New application', body, trail: [['Applications', paths.applications]] }
}

/** The settings of an application, and what moves, revokes or deletes it. */
export function settingsPage(
  request: DeveloperRequest,
  client: RegisteredClient,
  { projects, ...content }: ChangeSettingsContent,
): PageContent {
  const { paths, csrfToken, developer } = request
  const { application, project } = client
  const isRequest = application.status === 'approved' && !developer.administrator
  const hasNote =
    !developer.administrator && (application.status !== 'revoked' || application.review?.declined)
  const body = html`<form
      method="post"
      action="${paths.settings(project.id, application.id)}"
      class="card form"
    >
      ${csrfInput(csrfToken)} ${revisionInput(String(application.revision), content.state)}
      ${settingsFields(content)} ${hasNote ? note(content.state) : ''}
      ${isRequest ? html`<p class="hint">More products, scopes or audiences, another token format, weaker binding and a longer lifetime take effect after an administrator has approved them.</p>` : ''}
      <p class="finish"><button>Save</button></p>
    </form>
    ${dangerSection('Move, revoke or delete', actions(request, client, projects))}`
  return applicationFrame(request, client, 'settings', body)
}

function note(state: FormState): SafeHtml {
  const hint =
    'Administrators see it if they have to approve something: why the application needs what it requests.'
  return textArea(
    { name: 'note', label: 'Note to the administrators', hint, required: false, rows: 3 },
    state,
  )
}

function actions(
  request: DeveloperRequest,
  client: RegisteredClient,
  projects: ChangeSettingsContent['projects'],
): DangerRow[] {
  const { paths, csrfToken, developer } = request
  const { application, project } = client
  const { name, status, responseForm } = application
  const approval = (decision: string) => ({
    action: paths.approval(project.id, application.id),
    csrfToken,
    field: html`<input type="hidden" name="decision" value="${decision}" />`,
  })
  const revokeTokens = approval('revoke_tokens')
  const revoke = approval('revoke')
  return [
    projects.suggestions.length > 1 && {
      title: 'Move to another project',
      text: `Its client ID, secrets and tokens stay valid.${responseForm === 'rfc6749' ? '' : ' Token responses name the other project’s organisation.'}`,
      button: dialog({
        id: 'move',
        label: 'Move',
        title: `Move ${name} to another project`,
        body: html`<p>The owners of the other project become the owners of the application.</p>
          ${picker({ ...projects, name: 'project', label: 'Project' }, emptyForm)}`,
        action: paths.move(project.id, application.id),
        confirm: 'Move application',
        csrfToken,
      }),
    },
    status === 'approved' && {
      title: 'Revoke all tokens',
      text: 'The existing tokens become invalid. The application can get new ones.',
      button: dialog({
        id: 'revoke-tokens',
        label: html`Revoke<span class="visually-hidden"> all tokens</span>`,
        title: `Revoke all tokens of ${name}?`,
        body: html`${revokeTokens.field}
          <p>
            APIs will reject the tokens from now on. Clients get new tokens with their next token request;
            until then, their API requests fail.
          </p>`,
        confirm: 'Revoke all tokens',
        danger: true,
        ...revokeTokens,
      }),
    },
    status !== 'revoked' && {
      title: 'Revoke the application',
      text: 'It can no longer get tokens, and its existing tokens become invalid.',
      button: dialog({
        id: 'revoke-application',
        label: html`Revoke<span class="visually-hidden"> application</span>`,
        title: `Revoke ${name}?`,
        body: html`${revoke.field}
          <p>
            It can no longer get tokens, and its existing tokens become invalid at once.
            ${developer.administrator ? 'You can approve it again.' : 'Only an administrator can approve it again.'}
          </p>`,
        confirm: 'Revoke application',
        danger: true,
        ...revoke,
      }),
    },
    {
      title: 'Delete the application',
      text: 'It can no longer get tokens. You can restore it within 30 days.',
      button: dialog({
        id: 'delete-application',
        label: html`Delete<span class="visually-hidden"> application</span>`,
        title: `Delete ${name}?`,
        body: html`<input type="hidden" name="decision" value="delete" />
          <p>
            It can no longer get tokens, and its existing tokens become invalid at once. It can be restored
            within 30 days, with the same client ID and secrets; after that, it is permanently deleted.
            ${developer.administrator ? endsForOthers : ''}
          </p>`,
        action: paths.deletion(project.id, application.id),
        confirm: 'Delete application',
        csrfToken,
        danger: true,
      }),
    },
  ].filter((row) => row !== false)
}
