/** Why the portal rejects a request; `error-page.ts` contains the texts. */
export type PortalErrorReason =
  | 'invalid_form'
  | 'invalid_csrf_token'
  | 'not_allowed'
  | 'not_found'
  | 'nothing_selected'
  | 'invalid_link'
  | 'has_administrator'
  | 'too_many_secrets'
  | 'too_many_applications'
  | 'too_many_pending'
  | 'too_many_projects'
  | 'application_changed'
  | 'being_deleted'
  | 'other_owners'
  | 'last_administrator'
  | 'busy'

export class PortalError extends Error {
  readonly reason: PortalErrorReason

  constructor(reason: PortalErrorReason) {
    super(reason)
    this.name = 'PortalError'
    this.reason = reason
  }
}
