import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project, RegisteredClient } from '../../storage/application.ts'
import { dangerRows } from '../layout/menus.ts'
import { dialog } from '../layout/dialog.ts'
import { choice, emptyForm } from '../layout/form.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export function dangerSection(
  request: DeveloperRequest,
  client: RegisteredClient,
  otherProjects: readonly Project[],
): SafeHtml {
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
  const rows = [
    status === 'approved' && {
      title: 'Revoke all tokens',
      text: 'The existing tokens become invalid. The application can get new ones.',
      button: dialog({
        id: 'revoke-tokens',
        label: 'Revoke all tokens',
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
        label: 'Revoke application',
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
    otherProjects.length > 0 && {
      title: 'Move to another project',
      text: `Its client ID, secrets and tokens stay valid.${responseForm === 'rfc6749' ? '' : ' Token responses name the other project’s organisation.'}`,
      button: dialog({
        id: 'move',
        label: 'Move',
        title: `Move ${name} to another project`,
        body: html`<p>The owners of the other project become the owners of the application.</p>
          ${choice(
            {
              name: 'project',
              label: 'Project',
              choices: otherProjects.map((other) => [other.id, other.name]),
            },
            emptyForm,
          )}`,
        action: paths.move(project.id, application.id),
        confirm: 'Move application',
        csrfToken,
      }),
    },
    {
      title: 'Delete the application',
      text: 'It can no longer get tokens. You can restore it within 30 days.',
      button: dialog({
        id: 'delete-application',
        label: 'Delete application',
        title: `Delete ${name}?`,
        body: html`<input type="hidden" name="decision" value="delete" />
          <p>
            It can no longer get tokens, and its existing tokens become invalid at once. It can be restored
            within 30 days, with the same client ID and secrets; after that, it is permanently deleted.
          </p>`,
        action: paths.deletion(project.id, application.id),
        confirm: 'Delete application',
        csrfToken,
        danger: true,
      }),
    },
  ].filter((row) => row !== false)
  return html`<section aria-labelledby="more">
    <h2 id="more">Move, revoke or delete</h2>
    ${dangerRows(rows)}
  </section>`
}
