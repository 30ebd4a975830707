import type { RegisteredClient } from '../../storage/application.ts'
import { foldName } from '../../storage/folded-name.ts'
import type { PickerOptions, Suggestion } from '../../portal/layout/picker.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import { PortalError } from '../../portal/portal-error.ts'
import type { Storage } from '../context.ts'
import { ownedProject, ownerIdOf } from '../projects/own-projects.ts'

/** What is picked by its name in a form: people by administrators, and what a developer may see. */
export const choiceKinds = ['people', 'projects', 'applications'] as const
export type ChoiceKind = (typeof choiceKinds)[number]

/** With the ID of a person or a project, or the client ID of an application that gets tokens. */
export interface Choice extends Suggestion {
  readonly id: string
}

const one = { people: 'person', projects: 'project', applications: 'application' } as const
const shown = 20

/** The first ones that have the words in their names, or lead to them. */
export async function findChoices(
  { listings }: Pick<Storage, 'listings'>,
  request: DeveloperRequest,
  kind: ChoiceKind,
  search = '',
): Promise<readonly Choice[]> {
  const ownerId = ownerIdOf(request)
  const part = { search: search.slice(0, 200), limit: shown, offset: 0 }
  switch (kind) {
    case 'people': {
      if (!request.developer.administrator) throw new PortalError('not_allowed')
      const { items } = await listings.people(part)
      return items.map(({ id, name, administrator }) => ({
        id,
        text: name,
        hint: administrator ? 'Administrator' : 'Developer',
      }))
    }
    case 'projects': {
      const { items } = await listings.projects({ ...part, ownerId })
      return items
        .filter(({ project }) => project.deletesAtMs === undefined)
        .map(({ project: { id, name, organizationName } }) => ({ id, text: name, hint: organizationName }))
    }
    case 'applications': {
      const filter = { ...part, ownerId, status: 'approved', namesFirst: true } as const
      const { items } = await listings.applications(filter)
      return items.map((client) => toChoice(client, items))
    }
  }
}

/** Two applications may have one name. */
function toChoice({ application, project }: RegisteredClient, all: readonly RegisteredClient[]): Choice {
  const { name, clientId } = application
  const isUnique = all.filter((each) => each.application.name === name).length === 1
  return { id: clientId, text: isUnique ? name : `${name} (${clientId})`, hint: project.name }
}

/** The one that somebody named, or the error of the field. An ID is as good as a name. */
export async function readChoice(
  storage: Storage,
  request: DeveloperRequest,
  kind: ChoiceKind,
  value: unknown,
): Promise<Choice | { readonly error: string }> {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '') return { error: `Choose ${kind === 'applications' ? 'an' : 'a'} ${one[kind]}.` }
  const byId = await findById(storage, request, kind, text)
  if (byId) return byId
  const found = await findChoices(storage, request, kind, text)
  const exact = found.filter((choice) => foldName(choice.text) === foldName(text))
  if (exact.length === 1) return exact[0]!
  const names = found
    .slice(0, 5)
    .map((choice) => choice.text)
    .join(', ')
  return { error: `No ${one[kind]} has exactly this name.${names === '' ? '' : ` Similar names: ${names}.`}` }
}

async function findById(
  storage: Storage,
  request: DeveloperRequest,
  kind: ChoiceKind,
  text: string,
): Promise<Choice | undefined> {
  switch (kind) {
    case 'people': {
      if (!request.developer.administrator) throw new PortalError('not_allowed')
      const person = await storage.developers.findById(text)
      return person && { id: person.id, text: person.name }
    }
    case 'projects': {
      const project = await ownedProject(storage, request, text)
      return project?.deletesAtMs === undefined
        ? project && { id: project.id, text: project.name }
        : undefined
    }
    case 'applications': {
      // As suggestions name one of several applications that have the same name. A name may end like that, too.
      const [, name, suffix] = /^(.*) \(([^()]+)\)$/.exec(text) ?? []
      const clientId = suffix ?? text
      const client = await storage.applications.findClient(clientId)
      if (name !== undefined && foldName(name) !== foldName(client?.application.name ?? '')) return undefined
      const isOwn = client && (await ownedProject(storage, request, client.project.id)) !== undefined
      if (!isOwn) return undefined
      const named = await findChoices(storage, request, kind, client.application.name)
      return named.find(({ id }) => id === clientId) ?? toChoice(client, [client])
    }
  }
}

/** A picker of such a choice, with its first suggestions. */
export async function pickerOf(
  storage: Pick<Storage, 'listings'>,
  request: DeveloperRequest,
  kind: ChoiceKind,
  search?: string,
): Promise<Pick<PickerOptions, 'suggestions' | 'suggestionsFrom'>> {
  return {
    suggestions: await findChoices(storage, request, kind, search),
    suggestionsFrom: request.paths.choices(kind),
  }
}
