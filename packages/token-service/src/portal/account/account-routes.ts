import type { RouteTable } from '../route-table.ts'

export const accountPaths = {
  account: '/account',
  newPasskeyOptions: '/account/passkeys/options',
  newPasskey: '/account/passkeys',
  passkeyRemoval: '/account/passkeys/removal',
  recoveryCodes: '/account/recovery-codes',
  passwordSwitch: '/account/password',
} as const

/** The developer's own account. */
export const accountRoutes = {
  showAccount: ['GET', 'account'],
  changePassword: ['POST', 'account'],
  beginPasskey: ['POST', 'newPasskeyOptions'],
  addPasskey: ['POST', 'newPasskey'],
  removePasskey: ['POST', 'passkeyRemoval'],
  createRecoveryCodes: ['POST', 'recoveryCodes'],
  switchPassword: ['POST', 'passwordSwitch'],
} as const satisfies RouteTable<keyof typeof accountPaths>
