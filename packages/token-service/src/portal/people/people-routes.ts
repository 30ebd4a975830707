import type { RouteTable } from '../route-table.ts'

export const peoplePaths = {
  developers: '/developers',
  person: '/developers/:developerId',
  developerRemoval: '/developers/:developerId/removal',
  passwordLink: '/developers/:developerId/password-link',
  invitations: '/invitations',
  invitationWithdrawal: '/invitations/:hash/withdrawal',
  role: '/developers/:developerId/role',
} as const

/** The developers, for administrators. */
export const peopleRoutes = {
  showDevelopers: ['GET', 'developers'],
  showPerson: ['GET', 'person'],
  showInvitations: ['GET', 'invitations'],
  invite: ['POST', 'invitations'],
  withdrawInvitation: ['POST', 'invitationWithdrawal'],
  removeDeveloper: ['POST', 'developerRemoval'],
  createPasswordLink: ['POST', 'passwordLink'],
  changeRole: ['POST', 'role'],
} as const satisfies RouteTable<keyof typeof peoplePaths>
