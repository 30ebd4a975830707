import {
  AlreadyExists,
  type CredentialOwner,
  type CredentialRegistry,
} from '../../clients/credential-registry.ts'
import type { Clock } from '../../runtime/clock.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { addKeyOfForm, nameOfForm, newKeyPage, type NewKeyContent } from './new-key-page.ts'
import { parseRotation } from './rotation-form.ts'
import type { secretRoutes } from './secret-routes.ts'

/** An application or a resource server, and the pages about it. */
export interface CredentialPages extends Omit<NewKeyContent, 'state'> {
  readonly owner: CredentialOwner
  readonly registry: CredentialRegistry
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
  clock: Clock,
  find: (request: DeveloperRequest) => Promise<CredentialPages>,
): Omit<HandlersOf<typeof secretRoutes>, 'showCredentials'> {
  const showNewKey = (request: DeveloperRequest, { action, trail }: CredentialPages, state: FormState) =>
    newKeyPage(request, { action, trail, state })

  return {
    async rotateSecret(request) {
      const { owner, registry, list, secretPage } = await find(request)
      const { secretId, overlapMs, existingSecrets } = parseRotation(request.form, owner.secrets, clock.now())
      try {
        const clientSecret = await registry.rotateSecret(owner, overlapMs, secretId)
        return { page: secretPage({ clientSecret, existingSecrets }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: list }
      }
    },
    async revokeSecret(request) {
      const { owner, registry, list } = await find(request)
      await registry.revokeSecret(owner, request.params['secretId'] ?? '')
      return { redirectTo: list, notice: 'secret_revoked' }
    },
    showNewKey: async (request) => ({ page: showNewKey(request, await find(request), emptyForm) }),
    async addKey(request) {
      const pages = await find(request)
      const { owner, registry, list } = pages
      const state = await addKeyOfForm(request.form, (key, name) => registry.addKeys(owner, key, name))
      if (state) return { page: showNewKey(request, pages, state), status: 422 }
      return { redirectTo: list, notice: 'key_added' }
    },
    async renameKey(request) {
      const { owner, registry, list } = await find(request)
      await registry.renameKey(owner, request.params['keyId'] ?? '', nameOfForm(request.form))
      return { redirectTo: list, notice: 'key_renamed' }
    },
    async removeKey(request) {
      const { owner, registry, list } = await find(request)
      await registry.removeKey(owner, request.params['keyId'] ?? '')
      return { redirectTo: list, notice: 'key_removed' }
    },
  }
}
