import type { Migration } from '../migrate.ts'

export const developers: Migration = {
  id: 2,
  name: 'developers',
  statements: [
    `create table developers (
      id uuid primary key,
      name text not null unique,
      password_hash text not null,
      administrator boolean not null,
      created_at bigint not null
    )`,
    // Of several who open a first link at once, one becomes the administrator.
    `create unique index developers_administrator on developers (administrator) where administrator`,
    `create table invitations (
      hash text primary key,
      administrator boolean not null,
      expires_at bigint not null
    )`,
    `create table memberships (
      developer_id uuid not null references developers (id),
      project_id uuid not null references projects (id),
      primary key (developer_id, project_id)
    )`,
    `create table sessions (
      hash text primary key,
      developer_id uuid not null references developers (id),
      expires_at bigint not null
    )`,
    `create index sessions_developer on sessions (developer_id)`,
  ],
}
