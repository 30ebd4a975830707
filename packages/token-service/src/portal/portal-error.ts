interface ErrorText {
  readonly status: number
  readonly title: string
  readonly text: string
}

/** Why the portal rejects a request, and what its page says. */
export const portalErrors = {
  invalid_form: {
    status: 400,
    title: 'Invalid request',
    text: 'Go back, reload the page and try again.',
  },
  invalid_csrf_token: {
    status: 403,
    title: 'This form has expired',
    text: 'Nothing was changed. Go back, reload the page and send the form again. Cookies must be enabled for this site.',
  },
  not_allowed: {
    status: 403,
    title: 'You do not have permission to do this',
    text: 'Only an administrator of this service can do this.',
  },
  no_longer_allowed: {
    status: 403,
    title: 'You no longer have permission to do this',
    text: 'Nothing was changed: meanwhile, your session has ended, or your account, your role or your projects have changed.',
  },
  not_found: {
    status: 404,
    title: 'Page not found',
    text: 'The page does not exist, or you do not have permission to see it.',
  },
  nothing_selected: {
    status: 422,
    title: 'Nothing is selected',
    text: 'Go back and select at least one application.',
  },
  invalid_link: {
    status: 410,
    title: 'This link is no longer valid',
    text: 'A link works only once, and only for a limited time. Ask an administrator for a new one. The link for the first administrator is printed when the service starts.',
  },
  has_administrator: {
    status: 410,
    title: 'There is an administrator already',
    text: 'This link was for the first developer, and somebody has joined with another one. Ask an administrator to invite you.',
  },
  too_many_secrets: {
    status: 409,
    title: 'Too many secrets',
    text: 'An application or a resource server can have up to ten secrets. Revoke one that is no longer used, then rotate again.',
  },
  too_many_applications: {
    status: 409,
    title: 'Too many applications',
    text: 'A project can have up to 100 applications. Create another project.',
  },
  too_many_pending: {
    status: 409,
    title: 'Too many pending applications',
    text: 'A developer can have up to 20 applications that wait for approval. Ask an administrator to decide on them.',
  },
  too_many_projects: {
    status: 409,
    title: 'Too many projects',
    text: 'A developer can have up to 50 projects. Use an existing one.',
  },
  application_changed: {
    status: 409,
    title: 'The application has changed',
    text: 'Somebody changed the application while you were viewing it. Nothing was saved. Go back, reload the page and try again.',
  },
  being_deleted: {
    status: 409,
    title: 'It was deleted',
    text: 'Nothing was changed. What is being deleted has to be restored first.',
  },
  other_owners: {
    status: 403,
    title: 'The project has other owners',
    text: 'Nothing was changed. Only an administrator can move an approved application to a project with other owners.',
  },
  last_administrator: {
    status: 409,
    title: 'This is the last administrator',
    text: 'Nothing was changed. Make another developer an administrator first.',
  },
  invalid: { status: 400, title: 'Invalid request', text: 'Go back, and correct what was sent.' },
  rejected: {
    status: 409,
    title: 'This is not possible',
    text: 'Go back, reload the page and try again.',
  },
  busy: {
    status: 503,
    title: 'The service is busy',
    text: 'Too many requests arrived at once. Nothing was changed. Try again in a few seconds.',
  },
  unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    text: 'The service cannot reach its storage. Try again in a few seconds.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    text: 'The error was written to the service’s log.',
  },
} as const satisfies Record<string, ErrorText>

export type PortalErrorReason = keyof typeof portalErrors

export class PortalError extends Error {
  readonly reason: PortalErrorReason

  constructor(reason: PortalErrorReason) {
    super(reason)
    this.name = 'PortalError'
    this.reason = reason
  }
}
