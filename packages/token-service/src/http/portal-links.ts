export const portalRoot = '/portal'

/** What is printed or sent to people outside the portal: paths under the service's URL. */
export const portalLinks = {
  join: (token: string) => `${portalRoot}/join/${token}`,
  newPassword: (token: string) => `${portalRoot}/password/${token}`,
}
