import { html } from '@remix-run/html-template'
import { z } from 'zod'
import { type CredentialOwner, addKeys, removeKey, renameKey, revokeSecret, rotateSecret } from './acts.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { code, copyButton, copyLabel } from '../../portal/layout/copyable.ts'
import { type FormState, csrfInput, emptyForm, field, textArea } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { parseForm, submissionForm } from '../../portal/layout/parse-form.ts'
import { line, optionalLine } from '../../runtime/bounds.ts'
import type { DeveloperRequest, Pages } from '../../portal/page-routes.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { overlaps } from './credentials-section.ts'
import { AlreadySubmitted, createOnce } from '../../storage/submission-storage.ts'
import { secretStorage } from './storage.ts'
import { actorOf } from '../sessions/session.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import type { ServiceContext } from '../context.ts'

/** An application or a resource server, and the pages about it. */
export interface CredentialPages extends Omit<NewKeyContent, 'state'> {
  readonly owner: CredentialOwner
  /** The path of the page that lists the credentials. */
  readonly list: string
  /** The page that shows a new secret. */
  readonly secretPage: (secret: {
    readonly clientSecret: string
    /** What happens to the existing secrets; `undefined` if none was valid. */
    readonly existingSecrets?: string | undefined
  }) => PageContent
}

/** Where the secrets and the keys of a client are changed: their IDs are in the paths. */
interface CredentialPatterns {
  readonly secrets: string
  readonly secretRevocation: `${string}/:secretId/${string}`
  readonly keys: string
  readonly key: `${string}/:keyId`
  readonly keyRemoval: `${string}/:keyId/${string}`
}

/** Changes the secrets and the public keys of a client; `find` throws if the developer may not change them. */
export function addCredentialForms(
  { get, post }: Pages<DeveloperRequest>,
  at: CredentialPatterns,
  {
    perform,
    clock,
    find,
  }: Pick<ServiceContext, 'perform' | 'clock'> & {
    readonly find: (request: DeveloperRequest) => Promise<CredentialPages>
  },
): void {
  const showNewKey = (request: DeveloperRequest, { action, trail }: CredentialPages, state: FormState) =>
    newKeyPage(request, { action, trail, state })

  post(at.secrets, async (request) => {
    const { owner, list, secretPage } = await find(request)
    const { data } = rotationForm.safeParse(request.form)
    if (!data) throw new PortalError('invalid_form')
    const overlap = overlaps.find(([value]) => value === data.overlap)!
    try {
      const { clientSecret, existing } = await perform(actorOf(request), (act) =>
        createOnce(act, data.submission_id, async () => {
          const existing = await secretStorage(act).countValid(owner.id, clock.now())
          if (existing >= maxSecrets) throw new PortalError('too_many_secrets')
          return { existing, ...(await rotateSecret(act, owner, { overlapMs: overlap[2] * 1000 })) }
        }),
      )
      const existingSecrets =
        existing > 0 ? describeOverlap(overlap, owner.kind === 'applications') : undefined
      return { page: secretPage({ clientSecret, existingSecrets }) }
    } catch (error) {
      // The page was reloaded: the secret was shown already.
      if (!(error instanceof AlreadySubmitted)) throw error
      return { redirectTo: list }
    }
  })

  post(at.secretRevocation, async (request) => {
    const { owner, list } = await find(request)
    const id = request.params['secretId'] ?? ''
    await perform(actorOf(request), (act) => revokeSecret(act, owner, id))
    return { redirectTo: list, notice: 'secret_revoked' }
  })

  get(at.keys, async (request) => ({ page: showNewKey(request, await find(request), emptyForm) }))

  post(at.keys, async (request) => {
    const pages = await find(request)
    const { owner, list } = pages
    const state = await addKeyOfForm(request.form, (key, name) =>
      perform(actorOf(request), (act) => addKeys(act, owner, { key, name })),
    )
    if (state) return { page: showNewKey(request, pages, state), status: 422 }
    return { redirectTo: list, notice: 'key_added' }
  })

  post(at.key, async (request) => {
    const { owner, list } = await find(request)
    const [id, name] = [request.params['keyId'] ?? '', nameOfForm(request.form)]
    await perform(actorOf(request), (act) => renameKey(act, owner, id, name))
    return { redirectTo: list, notice: 'key_renamed' }
  })

  post(at.keyRemoval, async (request) => {
    const { owner, list } = await find(request)
    const id = request.params['keyId'] ?? ''
    await perform(actorOf(request), (act) => removeKey(act, owner, id))
    return { redirectTo: list, notice: 'key_removed' }
  })
}

/** What a rotation did to the existing secrets, and what to do next. */
function describeOverlap([, label, seconds]: (typeof overlaps)[number], hasTokens: boolean): string {
  if (seconds === 0)
    return `The existing secrets have expired${hasTokens ? ', and the tokens that were issued for them are invalid' : ''}. Deploy the new secret at once.`
  return seconds === Infinity
    ? 'The expiry of the existing secrets is unchanged. Deploy the new secret, check that the existing ones are no longer used, and revoke them.'
    : `The existing secrets expire ${label}. Deploy the new secret before then.`
}

const maxSecrets = 10
const rotationForm = submissionForm.extend({ overlap: z.enum(overlaps.map(([value]) => value)) })

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

function newKeyPage(request: DeveloperRequest, { action, trail, state }: NewKeyContent): PageContent {
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
async function addKeyOfForm(
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
function nameOfForm(form: RawParameters): string {
  const { data } = parseForm(nameForm, form)
  if (!data) throw new PortalError('invalid_form')
  return data.name
}
