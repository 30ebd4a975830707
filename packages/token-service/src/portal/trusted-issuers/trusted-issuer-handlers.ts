import { findTrustedIssuer } from '../../features/trusted-issuers/acts.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { FormState } from '../layout/form.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { actorOf, administratorOf, requireAdministrator } from '../session/session.ts'
import {
  issuerState,
  newIssuerState,
  saveIssuer,
  trustedIssuerPage,
  trustedIssuersPage,
} from './trusted-issuer-pages.ts'
import type { trustedIssuerRoutes } from './trusted-issuer-routes.ts'

/** The issuers whose JWTs are exchanged for tokens, for administrators. */
export function trustedIssuerHandlers({
  storage,
  trustedIssuersFor,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof trustedIssuerRoutes> {
  async function list(request: DeveloperRequest, state: FormState) {
    requireAdministrator(request)
    const issuers = await storage.trustedIssuers.list()
    const lastUses = await activity.lastUses(issuers.map(({ id }) => id))
    const clientIds = new Set(issuers.flatMap(({ rules }) => rules.map(({ clientId }) => clientId)))
    const clients = await Promise.all([...clientIds].map((id) => storage.applications.findClient(id)))
    const applications = clients.filter((client) => client !== undefined)
    return trustedIssuersPage(request, { issuers, applications, lastUses, nowMs: clock.now(), state })
  }

  /** The issuer in the URL. */
  async function issuerOf(request: DeveloperRequest) {
    requireAdministrator(request)
    return findTrustedIssuer(request.params['id'], storage)
  }

  return {
    showTrustedIssuers: async (request) => ({ page: await list(request, newIssuerState) }),
    async addTrustedIssuer(request) {
      const registry = trustedIssuersFor(administratorOf(request))
      const state = await saveIssuer(request.form, (settings) => registry.add(settings))
      if (state) return { page: await list(request, state), status: 422 }
      return { redirectTo: request.paths.trustedIssuers, notice: 'trusted_issuer_added' }
    },
    async showTrustedIssuer(request) {
      const issuer = await issuerOf(request)
      return { page: trustedIssuerPage(request, issuer, issuerState(issuer)) }
    },
    async changeTrustedIssuer(request) {
      const issuer = await issuerOf(request)
      const state = await saveIssuer(request.form, (settings) =>
        trustedIssuersFor(actorOf(request)).change(issuer.id, settings),
      )
      if (state) return { page: trustedIssuerPage(request, issuer, state), status: 422 }
      return { redirectTo: request.paths.trustedIssuers, notice: 'trusted_issuer_changed' }
    },
    async removeTrustedIssuer(request) {
      const { id } = await issuerOf(request)
      await trustedIssuersFor(actorOf(request)).remove(id)
      return { redirectTo: request.paths.trustedIssuers, notice: 'trusted_issuer_removed' }
    },
  }
}
