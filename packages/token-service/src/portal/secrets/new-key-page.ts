import { html } from '@remix-run/html-template'
import { code, copyButton, copyLabel } from '../layout/copyable.ts'
import { csrfInput, field, textArea, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { z } from 'zod'
import { UsageError } from '../../runtime/usage-error.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { PortalError } from '../portal-error.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'

export interface NewKeyContent {
  readonly action: string
  readonly trail: PageContent['trail']
  readonly state: FormState
}

const commands = `openssl genpkey -algorithm EC \\
  -pkeyopt ec_paramgen_curve:P-256 \\
  -out private-key.pem
openssl pkey -in private-key.pem -pubout \\
  -out public-key.pem`

export function newKeyPage(request: DeveloperRequest, { action, trail, state }: NewKeyContent): PageContent {
  const body = html`<p class="lead">
      With a registered public key, clients authenticate with <code>private_key_jwt</code> (RFC 7523): they
      sign an assertion for each request and need no secret.
    </p>
    <form method="post" action="${action}" class="card form">
      ${csrfInput(request.csrfToken)}
      ${textArea({ name: 'key', label: 'Public key', hint: 'PEM, a JWK, a JWK set, or the https URL of a JWK set. Never a private key.', isCode: true }, state)}
      ${field({ name: 'name', label: 'Name', hint: 'Without one, the key is named after its own ID, its thumbprint or its URL.', required: false }, state)}
      <button>Add public key</button>
    </form>
    <section aria-labelledby="create">
      <div class="bar">
        <h2 id="create">Create a key pair</h2>
        <div class="actions">${copyButton('commands', copyLabel('commands'))}</div>
      </div>
      ${code(commands, 'bash', 'Commands', 'commands')}
    </section>`
  return { title: 'Add a public key', body, trail }
}

const keyForm = z.object({ key: z.string(), name: optionalLine(200) })
const nameForm = z.object({ name: line(200) })

/** Adds the key of the form; returns what is wrong with it. */
export async function addKeyOfForm(
  form: RawParameters,
  add: (key: string, name?: string) => Promise<unknown>,
): Promise<FormState | undefined> {
  const parsed = parseForm(keyForm, form)
  if (!parsed.data) return parsed.state
  const { key, name } = parsed.data
  try {
    await add(key, name || undefined)
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // A private key that was pasted by mistake is not sent back.
    const values = { name, key: key.includes('PRIVATE') ? '' : key }
    return { values, errors: { key: error.message } }
  }
}

/** The new name of a key or a resource server. The browser checks the field: nothing else is sent by the portal's pages. */
export function nameOfForm(form: RawParameters): string {
  const { data } = parseForm(nameForm, form)
  if (!data) throw new PortalError('invalid_form')
  return data.name
}
