import type { ServiceContext } from '../service-context.ts'
import type { Developer } from '../storage/developer-storage.ts'
import type { DeveloperExchange, DeveloperStep } from './exchange.ts'
import { createJoinPath, createPasswordPath } from './one-time-link.ts'
import { developersPage } from './pages/developers-page.ts'
import { PortalRefusal } from './portal-refusal.ts'

/** Who else may come in: for the administrator. */
export function developerSteps(context: ServiceContext) {
  const { activity, storage } = context
  const { developers } = storage

  function mustAdminister({ developer }: DeveloperExchange): void {
    if (!developer.administrator) throw new PortalRefusal('not_allowed')
  }

  async function other(exchange: DeveloperExchange): Promise<Developer> {
    mustAdminister(exchange)
    const all = await developers.list()
    const developer = all.find(({ id }) => id === exchange.params['developerId'])
    if (!developer) throw new PortalRefusal('not_found')
    if (developer.administrator) throw new PortalRefusal('bad_form')
    return developer
  }

  return {
    async showDevelopers(exchange) {
      mustAdminister(exchange)
      return { page: developersPage(exchange, await developers.list()) }
    },
    async invite(exchange) {
      mustAdminister(exchange)
      const path = await createJoinPath(context, { administrator: false })
      activity.audit({ event: 'developer_invited', detail: exchange.developer.id })
      const link = `${exchange.baseUrl}${path}`
      const shown = { title: 'Send this link to the new developer', link }
      return { page: developersPage(exchange, await developers.list(), shown) }
    },
    async linkPassword(exchange) {
      const developer = await other(exchange)
      const link = `${exchange.baseUrl}${await createPasswordPath(context, developer)}`
      activity.audit({ event: 'password_link_made', detail: developer.id })
      const shown = { title: `Send this link to ${developer.name}, to set a new password`, link }
      return { page: developersPage(exchange, await developers.list(), shown) }
    },
    async removeDeveloper(exchange) {
      const developer = await other(exchange)
      await developers.remove(developer.id)
      activity.audit({ event: 'developer_removed', detail: developer.id })
      return { redirectTo: exchange.paths.developers }
    },
  } satisfies Record<string, DeveloperStep>
}
