import { z } from 'zod'
import { ms, named, operation, type AdminContext, type Call, type OperationGroup } from '../operation.ts'
import type { Act } from '../../storage/act.ts'
import {
  demoteDeveloper,
  findDeveloper,
  promoteDeveloper,
  removeDeveloper,
  withdrawInvitation,
} from './acts.ts'
import type { Developer } from '../../storage/developer.ts'

const developer = named(
  'Developer',
  z.looseObject({ id: z.string(), name: z.string(), administrator: z.boolean(), createdAtMs: ms }),
)
const invitation = named(
  'Invitation',
  z.looseObject({ id: z.string(), administrator: z.boolean(), expiresAtMs: ms }),
)
const link = z.string().describe('Can be opened once, within its lifetime.')
const invitationLink = named('InvitationLink', z.object({ id: z.string(), link }))
const passwordLink = named('Link', z.object({ link }))

/** What arguments of commands are called. */
const labels = { id: 'name' }

async function changeDeveloper(
  service: AdminContext,
  { params, by }: Call<'/developers/:id'>,
  change: (act: Act, developer: Developer) => Promise<void>,
): Promise<void> {
  const developer = await findDeveloper(service.storage.developers, params.id)
  await service.perform(by, (act) => change(act, developer))
}

/** The developers of the portal, by name, and which of them are administrators. */
export const peopleOperations: OperationGroup = {
  heading: 'People',
  operations: [
    operation({
      method: 'get',
      path: '/developers',
      command: 'developers',
      summary: 'List the developers of the portal',
      response: z.array(developer),
      run: async ({ storage }) =>
        (await storage.developers.list()).map(({ id, name, administrator, createdAtMs }) => ({
          id,
          name,
          administrator,
          createdAtMs,
        })),
    }),
    operation({
      method: 'post',
      path: '/invitations',
      command: 'invite',
      summary: 'Create an invitation to the portal',
      response: invitationLink,
      status: 201,
      run: ({ links }, { by }) => links.createInvitation(by),
    }),
    operation({
      method: 'get',
      path: '/invitations',
      command: 'invitations',
      summary: 'List the invitations that nobody has accepted',
      response: z.array(invitation),
      run: async ({ storage, clock }) =>
        (await storage.developers.invitations(clock.now())).map(({ hash: id, ...each }) => ({ id, ...each })),
    }),
    operation({
      method: 'delete',
      path: '/invitations/:id',
      command: 'withdraw-invitation',
      summary: 'Withdraw an invitation',
      run: ({ perform }, { params, by }) => perform(by, (act) => withdrawInvitation(act, params.id)),
    }),
    operation({
      method: 'post',
      path: '/developers/:id/password-link',
      command: { name: 'password-link', labels },
      summary: 'Create a link to set a new password, by the name of a developer',
      response: passwordLink,
      status: 201,
      run: async ({ links }, { params, by }) => ({ link: await links.createPasswordLink(by, params.id) }),
    }),
    operation({
      method: 'post',
      path: '/developers/:id/promote',
      command: { name: 'promote', labels },
      summary: 'Make a developer an administrator, by name',
      run: (service, call) => changeDeveloper(service, call, promoteDeveloper),
    }),
    operation({
      method: 'post',
      path: '/developers/:id/demote',
      command: { name: 'demote', labels },
      summary: 'Make an administrator a developer, by name',
      run: (service, call) => changeDeveloper(service, call, demoteDeveloper),
    }),
    operation({
      method: 'delete',
      path: '/developers/:id',
      command: { name: 'remove-developer', labels },
      summary: 'Remove a developer, by name',
      run: (service, call) => changeDeveloper(service, call, removeDeveloper),
    }),
  ],
}
