import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  addKeys,
  AlreadyExists,
  removeKey,
  renameKey,
  revokeSecret,
  rotateSecret,
  type CredentialOwner,
} from '../../features/credentials/acts.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../../service/context.ts'
import type { StoredSecret } from '../../storage/application.ts'
import { PortalError } from '../portal-error.ts'
import { ownClient } from '../projects/own-projects.ts'
import { credentialsPage, overlaps } from './credentials-section.ts'
import { secretPage } from './secret-page.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { actorOf } from '../session/session.ts'
import { addKeyOfForm, nameOfForm, newKeyPage, type NewKeyContent } from './new-key-page.ts'
import type { secretRoutes } from './secret-routes.ts'

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

/** Changes the secrets and the public keys of a client; `find` throws if the developer may not change them. */
export function credentialHandlers(
  { perform, clock }: Pick<ServiceContext, 'perform' | 'clock'>,
  find: (request: DeveloperRequest) => Promise<CredentialPages>,
): Omit<HandlersOf<typeof secretRoutes>, 'showCredentials'> {
  const showNewKey = (request: DeveloperRequest, { action, trail }: CredentialPages, state: FormState) =>
    newKeyPage(request, { action, trail, state })

  return {
    async rotateSecret(request) {
      const { owner, list, secretPage } = await find(request)
      const { secretId, overlapMs, existingSecrets } = parseRotation(request.form, owner.secrets, clock.now())
      try {
        const clientSecret = await perform(actorOf(request), (act) =>
          rotateSecret(act, owner, { overlapMs, id: secretId }),
        )
        return { page: secretPage({ clientSecret, existingSecrets }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: list }
      }
    },
    async revokeSecret(request) {
      const { owner, list } = await find(request)
      const id = request.params['secretId'] ?? ''
      await perform(actorOf(request), (act) => revokeSecret(act, owner, id))
      return { redirectTo: list, notice: 'secret_revoked' }
    },
    showNewKey: async (request) => ({ page: showNewKey(request, await find(request), emptyForm) }),
    async addKey(request) {
      const pages = await find(request)
      const { owner, list } = pages
      const state = await addKeyOfForm(request.form, (key, name) =>
        perform(actorOf(request), (act) => addKeys(act, owner, { key, name })),
      )
      if (state) return { page: showNewKey(request, pages, state), status: 422 }
      return { redirectTo: list, notice: 'key_added' }
    },
    async renameKey(request) {
      const { owner, list } = await find(request)
      const [id, name] = [request.params['keyId'] ?? '', nameOfForm(request.form)]
      await perform(actorOf(request), (act) => renameKey(act, owner, id, name))
      return { redirectTo: list, notice: 'key_renamed' }
    },
    async removeKey(request) {
      const { owner, list } = await find(request)
      const id = request.params['keyId'] ?? ''
      await perform(actorOf(request), (act) => removeKey(act, owner, id))
      return { redirectTo: list, notice: 'key_removed' }
    },
  }
}

/** The credentials of an application. */
export function secretHandlers({
  storage,
  perform,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof secretRoutes> {
  return {
    async showCredentials(request) {
      const client = await ownClient(storage, request)
      const { application, secrets } = client
      const used = [application, ...secrets, ...application.keys].map(({ id }) => id)
      const content = {
        lastUses: await activity.lastUses(used),
        nowMs: clock.now(),
        submissionId: randomUUID(),
      }
      return { page: credentialsPage(request, client, content) }
    },
    ...credentialHandlers({ perform, clock }, async (request) => {
      const { paths } = request
      const { application, project, secrets } = await ownClient(storage, request)
      const list = paths.credentials(project.id, application.id)
      return {
        owner: { ...application, secrets, kind: 'applications' },
        list,
        action: paths.keys(project.id, application.id),
        trail: [
          ['Projects', paths.projects],
          [project.name, paths.project(project.id)],
          [application.name, list],
        ],
        secretPage: (secret) => secretPage(request, { application, project, ...secret }),
      }
    }),
  }
}

/** What a rotation did to the existing secrets, and what to do next. */
function describeOverlap([, label, seconds]: (typeof overlaps)[number]): string {
  if (seconds === 0) return 'The existing secrets have expired. Deploy the new secret at once.'
  return seconds === Infinity
    ? 'The expiry of the existing secrets is unchanged. Deploy the new secret, check that the existing ones are no longer used, and revoke them.'
    : `The existing secrets expire ${label}. Deploy the new secret before then.`
}

/** The ID that a form assigns to what it creates: sending it twice creates it once. */
export const submissionForm = z.object({ submission_id: z.uuid() })

const maxSecrets = 10
const rotationForm = submissionForm.extend({ overlap: z.enum(overlaps.map(([value]) => value)) })

interface Rotation {
  /** Of the new secret. */
  readonly secretId: string
  readonly overlapMs: number
  /** What happens to the existing secrets; `undefined` without any. */
  readonly existingSecrets?: string | undefined
}

/** `secrets`: the existing ones. */
function parseRotation(
  form: RawParameters,
  secrets: readonly Pick<StoredSecret, 'id' | 'expiresAtMs'>[],
  nowMs: number,
): Rotation {
  const { data } = rotationForm.safeParse(form)
  if (!data) throw new PortalError('invalid_form')
  const valid = secrets.filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs)
  const wasSent = secrets.some(({ id }) => id === data.submission_id)
  if (valid.length >= maxSecrets && !wasSent) throw new PortalError('too_many_secrets')
  const overlap = overlaps.find(([value]) => value === data.overlap)!
  return {
    secretId: data.submission_id,
    overlapMs: overlap[2] * 1000,
    existingSecrets: valid.length > 0 ? describeOverlap(overlap) : undefined,
  }
}
