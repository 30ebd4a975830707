import type { RouteTable } from '../route-table.ts'

export const peoplePaths = {
  developers: '/developers',
  developerRemoval: '/developers/:developerId/removal',
  passwordLink: '/developers/:developerId/password-link',
  passkeysRemoval: '/developers/:developerId/passkeys-removal',
  invitationWithdrawal: '/invitations/:hash/withdrawal',
  role: '/developers/:developerId/role',
} as const

/** The developers, for administrators. */
export const peopleRoutes = {
  showDevelopers: ['GET', 'developers'],
  invite: ['POST', 'developers'],
  withdrawInvitation: ['POST', 'invitationWithdrawal'],
  removeDeveloper: ['POST', 'developerRemoval'],
  removePasskeys: ['POST', 'passkeysRemoval'],
  createPasswordLink: ['POST', 'passwordLink'],
  changeRole: ['POST', 'role'],
} as const satisfies RouteTable<keyof typeof peoplePaths>
