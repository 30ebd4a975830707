/** Why the portal does not do what it was asked. */
export type PortalRefusalReason =
  | 'bad_form'
  | 'form_not_ours'
  | 'not_allowed'
  | 'not_found'
  | 'link_void'
  | 'too_many_secrets'
  | 'busy'

export class PortalRefusal extends Error {
  readonly reason: PortalRefusalReason

  constructor(reason: PortalRefusalReason) {
    super(reason)
    this.name = 'PortalRefusal'
    this.reason = reason
  }
}
