import type { RouteTable } from '../route-table.ts'

export const sessionPaths = {
  logIn: '/log-in',

  openidLogIn: '/log-in/openid',
  openidCallback: '/log-in/callback',
  linkOpenid: '/account/openid',
  unlinkOpenid: '/account/openid/unlink',
  logOut: '/log-out',
  backChannelLogOut: '/log-out/back-channel',
  join: '/join/:token',
  newPassword: '/password/:token',
} as const

/** Logging in and out. */
export const logInRoutes = {
  showLogIn: ['GET', 'logIn'],
  logIn: ['POST', 'logIn'],
  logOut: ['POST', 'logOut'],
} as const satisfies RouteTable<keyof typeof sessionPaths>

/** Logging in through the OpenID provider, and linking an account there. */
export const openidRoutes = {
  beginOpenidLogIn: ['GET', 'openidLogIn'],
  finishOpenidLogIn: ['GET', 'openidCallback'],
  linkOpenid: ['POST', 'linkOpenid'],
  unlinkOpenid: ['POST', 'unlinkOpenid'],
} as const satisfies RouteTable<keyof typeof sessionPaths>

/** The links with which people join, or set a new password. */
export const linkRoutes = {
  showJoin: ['GET', 'join'],
  join: ['POST', 'join'],
  showNewPassword: ['GET', 'newPassword'],
  setPassword: ['POST', 'newPassword'],
} as const satisfies RouteTable<keyof typeof sessionPaths>
