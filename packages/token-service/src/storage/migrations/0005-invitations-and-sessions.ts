import type { Migration } from './migration.ts'

/** Invitations say for whom they are, sessions from where somebody logged in. */
export const invitationsAndSessions: Migration = {
  name: '0005-invitations-and-sessions',
  statements: () => [
    'alter table invitations add column name text',
    'alter table sessions add column address text',
    'alter table sessions add column browser text',
  ],
}
