import { type SafeHtml, html } from '@remix-run/html-template'
import { isConfigured } from './acts.ts'
import { keyName } from './public-keys.ts'
import { applicationFrame } from '../applications/application-frame.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { choice, field } from '../../portal/layout/form.ts'
import { list } from '../../portal/layout/list.ts'
import { moreMenu } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { type LastUses, absent, lastUse, relativeTime } from '../../portal/layout/time.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import {
  expiresSoonMs,
  type PublicKey,
  type RegisteredClient,
  type StoredSecret,
} from '../../storage/application.ts'

/** When existing secrets expire after a rotation: the form's value, its label, and the seconds. */
export const overlaps = [
  ['hour', 'in 1 hour', 3_600],
  ['day', 'in 1 day', 86_400],
  ['week', 'in 7 days', 7 * 86_400],
  ['month', 'in 30 days', 30 * 86_400],
  ['never', 'as before (revoke them later)', Infinity],
  ['now', 'now (requests that use them fail at once)', 0],
] as const

export interface CredentialsContent {
  readonly lastUses: LastUses
  readonly nowMs: number
  /** The ID of the secret that the rotation creates. */
  readonly submissionId: string
}

/** An application or a resource server, and where its credentials are changed. */
interface CredentialsOwner {
  readonly secrets: readonly StoredSecret[]
  readonly keys: readonly PublicKey[]
  readonly paths: {
    readonly secrets: string
    readonly keys: string
    secretRevocation(id: string): string
    key(id: string): string
    keyRemoval(id: string): string
  }
  /** Whether it gets tokens, which end with the secret that they were issued for. */
  readonly hasTokens: boolean
  /** What happens to those who use a credential that is revoked. */
  readonly consequence: (credential: 'secret' | 'key') => string
}

/** The secrets and public keys, with dialogs to rotate and to revoke them. */
export function credentialsSection(
  request: DeveloperRequest,
  owner: CredentialsOwner,
  content: CredentialsContent,
): SafeHtml {
  const { secrets, keys, paths } = owner
  return html`<section aria-labelledby="credentials">
    <div class="bar">
      <h2 id="credentials">Credentials</h2>
      <div class="actions">
        <a class="button outline" href="${paths.keys}">Add public key</a>
        ${rotation(request, owner, content)}
      </div>
    </div>
    ${credentialsList(
      [
        ...secrets.map((secret) => secretCredential(request, owner, content, secret)),
        ...keys.map((key) => keyCredential(request, owner, content, key)),
      ],
      content.nowMs,
    )}
  </section>`
}

function secretCredential(
  { csrfToken }: DeveloperRequest,
  { paths, consequence }: CredentialsOwner,
  { lastUses, nowMs }: CredentialsContent,
  secret: StoredSecret,
): Credential {
  const { id, prefix, createdAtMs, expiresAtMs } = secret
  const lastUsed = lastUse(id, lastUses, nowMs)
  const action = dialog({
    id: `revoke-${id}`,
    label: html`Revoke<span class="visually-hidden"> the secret ${prefix}…</span>`,
    style: 'ghost',
    title: `Revoke the secret ${prefix}…?`,
    body: html`<p>${consequence('secret')} This cannot be undone.</p>
      <p>Last used: <strong>${lastUsed}</strong>.</p>`,
    action: paths.secretRevocation(id),
    confirm: 'Revoke secret',
    csrfToken,
    danger: true,
  })
  const isRevoked = isConfigured(secret) && isExpired(expiresAtMs, nowMs)
  return {
    name: html`<code>${prefix}••••</code>`,
    kind: 'Client secret',
    createdAtMs,
    lastUsed,
    expiresAtMs,
    menu: isRevoked
      ? undefined
      : moreMenu({ id: `more-${id}`, about: `the secret ${prefix}…`, items: [action] }),
  }
}

function keyCredential(
  { csrfToken }: DeveloperRequest,
  { paths, consequence }: CredentialsOwner,
  { lastUses, nowMs }: CredentialsContent,
  key: PublicKey,
): Credential {
  const { id, name, createdAtMs, expiresAtMs } = key
  const lastUsed = lastUse(id, lastUses, nowMs)
  const renaming = dialog({
    id: `rename-key-${id}`,
    label: html`Rename<span class="visually-hidden"> the public key ${name}</span>`,
    style: 'ghost',
    title: 'Rename the public key',
    body: field(
      { name: 'name', id: `name-${id}`, label: 'Name', pattern: String.raw`(?=.*\S).{1,200}` },
      { values: { name }, errors: {} },
    ),
    action: paths.key(id),
    confirm: 'Rename key',
    csrfToken,
  })
  const removal = dialog({
    id: `remove-key-${id}`,
    label: html`Remove<span class="visually-hidden"> the public key ${name}</span>`,
    style: 'ghost',
    title: 'Remove the public key?',
    body: html`<p>${consequence('key')}</p>
      <p>Last used: <strong>${lastUsed}</strong>.</p>`,
    action: paths.keyRemoval(id),
    confirm: 'Remove key',
    csrfToken,
    danger: true,
  })
  const isNamed = name !== keyName(key)
  return {
    name: isNamed
      ? html`<strong class="cut" dir="auto" title="${name}">${name}</strong>`
      : html`<code class="cut">${name}</code>`,
    kind: isNamed ? html`Public key <code>${keyName(key)}</code>` : 'Public key',
    createdAtMs,
    lastUsed,
    expiresAtMs,
    menu: isExpired(expiresAtMs, nowMs)
      ? undefined
      : moreMenu({ id: `more-${id}`, about: `the public key ${name}`, items: [renaming, removal] }),
  }
}

function isExpired(expiresAtMs = Infinity, nowMs: number): boolean {
  return expiresAtMs <= nowMs
}

function rotation(
  { csrfToken }: DeveloperRequest,
  { secrets, paths, hasTokens }: CredentialsOwner,
  { submissionId }: CredentialsContent,
): SafeHtml {
  const isFirst = secrets.length === 0
  const id = html`<input type="hidden" name="submission_id" value="${submissionId}" />`
  const rotate = dialog({
    id: 'rotate',
    label: isFirst ? 'Create secret' : 'Rotate secret',
    style: '',
    title: isFirst ? 'Create a secret' : 'Rotate the secret',
    body: html`${id}
    ${
      isFirst
        ? html`<input type="hidden" name="overlap" value="never" />
            <p>The secret is shown once.</p>`
        : html`<p>
              A new secret is created and shown once. The existing secrets stay valid for the time that you
              choose, so that you can deploy the new one without an outage.
              ${hasTokens ? 'The tokens that were issued for them end with them.' : ''}
            </p>
            ${choice(
              {
                name: 'overlap',
                label: 'Existing secrets expire',
                choices: overlaps.map(([value, text]) => [value, text]),
              },
              { values: { overlap: 'day' }, errors: {} },
            )}`
    }`,
    action: paths.secrets,
    confirm: isFirst ? 'Create secret' : 'Rotate secret',
    csrfToken,
  })
  if (isFirst) return rotate
  return html`${dialog({
    id: 'leaked',
    label: 'A secret has leaked',
    title: 'Replace a leaked secret now?',
    body: html`${id}<input type="hidden" name="overlap" value="now" />
      <p>
        A new secret is created and shown once. All existing
        secrets${hasTokens ? ', and the tokens that were issued for them,' : ''} become invalid at once:
        requests with them fail, your own ones, too, until the new secret is deployed.
      </p>`,
    action: paths.secrets,
    confirm: 'Replace now',
    csrfToken,
    danger: true,
  })}
  ${rotate}`
}

/** The credentials of an application. */
export function credentialsPage(
  request: DeveloperRequest,
  client: RegisteredClient,
  content: CredentialsContent,
): PageContent {
  return applicationFrame(
    request,
    client,
    'credentials',
    credentialsSection(request, ownerOf(request, client), content),
  )
}

function ownerOf({ paths }: DeveloperRequest, { application, project, secrets }: RegisteredClient) {
  const ids = [project.id, application.id] as const
  return {
    ...application,
    secrets,
    paths: {
      secrets: paths.secrets(...ids),
      keys: paths.keys(...ids),
      secretRevocation: (id: string) => paths.secretRevocation(...ids, id),
      key: (id: string) => paths.key(...ids, id),
      keyRemoval: (id: string) => paths.keyRemoval(...ids, id),
    },
    hasTokens: true,
    consequence: (credential: string) =>
      `Clients that use this ${credential} can no longer get tokens, and the tokens that were obtained with it become invalid at once.`,
  }
}

const dayMs = 86_400_000

/** A row of the list. */
interface Credential {
  /** The name of a key, or the start of a secret. */
  readonly name: SafeHtml
  readonly kind: SafeHtml | string
  readonly createdAtMs: number
  readonly lastUsed: SafeHtml | string
  readonly expiresAtMs?: number | undefined
  readonly menu?: SafeHtml | '' | undefined
}

/** The secrets and public keys of a client. */
function credentialsList(credentials: readonly Credential[], nowMs: number): SafeHtml {
  return list<Credential>(
    [
      {
        label: 'Credential',
        kind: 'name',
        cell: ({ name, kind }) => html`${name}<span class="cut below">${kind}</span>`,
      },
      {
        label: 'Created',
        kind: 'time',
        leaves: 3,
        cell: ({ createdAtMs }) => relativeTime(createdAtMs, nowMs),
      },
      { label: 'Last used', kind: 'time', leaves: 1, cell: ({ lastUsed }) => lastUsed },
      { label: 'Expires', kind: 'time', cell: ({ expiresAtMs }) => expiry(expiresAtMs, nowMs) },
      { label: 'Actions', kind: 'menu', cell: ({ menu = '' }) => menu },
    ],
    credentials,
    {
      label: 'Credentials',
      empty: html`<p class="empty">There are no credentials. Create a secret to authenticate.</p>`,
    },
  )
}

function expiry(expiresAtMs: number | undefined, nowMs: number): SafeHtml {
  if (expiresAtMs === undefined) return absent('never')
  if (expiresAtMs <= nowMs) return html`<span class="badge" data-variant="danger">Expired</span>`
  return expiryBadge(expiresAtMs, nowMs)
}

/** When something expires: a warning if it expires soon, and more urgent on the last day. */
export function expiryBadge(expiresAtMs: number, nowMs: number): SafeHtml {
  const leftMs = expiresAtMs - nowMs
  const time = relativeTime(expiresAtMs, nowMs)
  if (leftMs > expiresSoonMs) return time
  return html`<span class="badge" data-variant="${leftMs <= dayMs ? 'danger' : 'warning'}">${time}</span>`
}
