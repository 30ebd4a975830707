/** The requests that a feature handles: method and path, by the name of the handler. */
export type RouteTable<Path extends string> = Readonly<
  Record<string, readonly [method: 'GET' | 'POST', path: Path]>
>

/**
 * The only pages without a login. Everywhere else, the browser is sent to the login page. Every POST requires the CSRF
 * token of its session, these included.
 */
export const openRoutes = [
  'showLogIn',
  'logIn',
  'beginOpenidLogIn',
  'finishOpenidLogIn',
  'logOut',
  'showJoin',
  'join',
  'showNewPassword',
  'setPassword',
  'showReference',
] as const

export type OpenRoute = (typeof openRoutes)[number]
