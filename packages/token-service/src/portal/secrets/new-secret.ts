import { html, type SafeHtml } from '@remix-run/html-template'
import { code } from '../layout/code.ts'
import { copyable, copyButton } from '../layout/copyable.ts'
import { environmentFile, type ClientOfService } from '../snippets/client-snippets.ts'

/** Shows a new secret, once; `existingSecrets`: what happens to them. */
export function newSecret(client: ClientOfService, existingSecrets: string | undefined): SafeHtml {
  return html`<section class="notice" data-variant="warning" aria-labelledby="secret">
    <h2 id="secret">Copy the secret now</h2>
    <p>It is not shown again, because only its hash is stored. If you lose it, create a new one.</p>
    <dl class="pairs credentials">
      <div>
        <dt>Client ID</dt>
        <dd>${copyable({ id: 'client-id', value: client.clientId, what: 'client ID' })}</dd>
      </div>
      <div>
        <dt>Client secret</dt>
        <dd>${copyable({ id: 'client-secret', value: client.clientSecret, what: 'client secret' })}</dd>
      </div>
    </dl>
    <div class="bar">
      <h3>.env</h3>
      <div class="actions">${copyButton('environment', 'Copy as .env')}</div>
    </div>
    ${code(environmentFile(client), 'ini', 'Environment', 'environment')}
    ${existingSecrets === undefined ? '' : html`<p>${existingSecrets}</p>`}
  </section>`
}
