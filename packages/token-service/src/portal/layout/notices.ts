/** What a page confirms after a change; the browser keeps the name until the next page. */
export const notices = {
  application_approved: 'The application is approved. It can now get tokens.',
  application_changed: 'The settings were saved.',
  application_deleted: 'The application was deleted. It can be restored within 30 days.',
  application_moved: 'The application was moved.',
  application_restored: 'The application was restored.',
  application_revoked: 'The application was revoked. It can no longer get tokens.',
  approved: 'The approval is in effect.',
  clock_confirmed: 'The clock is confirmed. What is too old is deleted within a minute.',
  some_changed:
    'Some applications have changed in the meantime: nothing was decided on them. They are listed below.',
  changes_approved: 'The changes are approved and in effect.',
  decline_undone: 'The request waits for a decision again.',
  request_declined: 'The request was declined.',
  changes_requested: 'The changes were requested. They take effect after an administrator has approved them.',
  developer_removed: 'The developer was removed.',
  invitation_withdrawn: 'The invitation was withdrawn. Its link no longer works.',
  identity_linked: 'The accounts are linked. You can log in with both.',
  identity_unlinked: 'The accounts are no longer linked.',
  key_added: 'The public key was added.',
  key_renamed: 'The public key was renamed.',
  key_removed: 'The public key was removed.',
  log_in_again: 'Log in again, then change how you log in.',
  logged_out: 'You are logged out.',
  owner_added: 'The owner was added.',
  owner_removed: 'The owner was removed.',
  password_changed: 'Your password was changed. Other devices were logged out.',
  product_added: 'The product was added.',
  product_removed: 'The product was removed.',
  scope_added: 'The scope was added.',
  scope_removed: 'The scope was removed.',
  project_changed: 'The project was saved.',
  project_created: 'The project was created.',
  project_deleted: 'The project was deleted. It can be restored within 30 days.',
  project_restored: 'The project was restored.',
  resource_server_removed: 'The resource server was removed.',
  resource_server_renamed: 'The resource server was renamed.',
  developer_demoted: 'The administrator is now a developer.',
  developer_promoted: 'The developer is now an administrator.',
  secret_revoked: 'The secret was revoked. Clients that use it are rejected.',
  trusted_issuer_added: 'The issuer is trusted.',
  trusted_issuer_changed: 'The issuer was changed.',
  trusted_issuer_removed: 'The issuer is no longer trusted. The tokens for its JWTs were revoked.',
  webhook_delivered: 'The test event was delivered.',
  webhook_removed: 'The webhook was removed.',
  tokens_revoked: 'All tokens of the application were revoked.',
} as const

export type NoticeName = keyof typeof notices

export function isNotice(name: string | undefined): name is NoticeName {
  return name !== undefined && Object.hasOwn(notices, name)
}
