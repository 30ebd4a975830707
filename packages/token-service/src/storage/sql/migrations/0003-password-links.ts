import type { Migration } from '../migrate.ts'

export const passwordLinks: Migration = {
  id: 3,
  name: 'password links',
  statements: [
    `create table password_links (
      hash text primary key,
      developer_id uuid not null references developers (id) on delete cascade,
      expires_at bigint not null
    )`,
    `create index password_links_developer on password_links (developer_id)`,
  ],
}
