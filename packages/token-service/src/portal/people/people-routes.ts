import type { RouteTable } from '../route-table.ts'

export const peoplePaths = {
  developers: '/developers',
  developerRemoval: '/developers/:developerId/removal',
  passwordLink: '/developers/:developerId/password-link',

  invitationWithdrawal: '/invitations/:hash/withdrawal',
  role: '/developers/:developerId/role',
} as const

/** The developers, for administrators. */
export const peopleRoutes = {
  showDevelopers: ['GET', 'developers'],
  invite: ['POST', 'developers'],
  withdrawInvitation: ['POST', 'invitationWithdrawal'],
  removeDeveloper: ['POST', 'developerRemoval'],

  createPasswordLink: ['POST', 'passwordLink'],
  changeRole: ['POST', 'role'],
} as const satisfies RouteTable<keyof typeof peoplePaths>
