import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '@tokenwell/token-service/plugin'
import { csrfInput, textArea, type FormState } from '../components/form.ts'
import { page } from '../components/page.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export function newKeyPage(
  request: DeveloperRequest,
  { application, project }: RegisteredClient,
  state: FormState,
): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<p class="lead">
      With a registered public key, clients authenticate with <code>private_key_jwt</code> (RFC 7523): they
      sign each token request and need no secret.
    </p>
    <form method="post" action="${paths.keys(project.id, application.id)}" class="card form">
      ${csrfInput(csrfToken)}
      ${textArea({ name: 'key', label: 'Public key', hint: 'PEM, a JWK, a JWK set, or the https URL of a JWK set. Never a private key.' }, state)}
      <button>Add public key</button>
    </form>
    <div class="card">
      <h2>Create a key pair</h2>
      <pre
        tabindex="0"
        role="region"
        aria-label="Commands"
      ><code>openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out private-key.pem
openssl pkey -in private-key.pem -pubout -out public-key.pem</code></pre>
    </div>`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
    [application.name, paths.application(project.id, application.id)],
  ] as const
  return page(request, { title: 'Add a public key', body, trail })
}
