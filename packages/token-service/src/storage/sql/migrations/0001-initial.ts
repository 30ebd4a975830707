import type { Migration } from '../migrate.ts'

export const initial: Migration = {
  id: 1,
  name: 'initial',
  statements: [
    `create table projects (
      id uuid primary key,
      name text not null,
      organization_name text not null,
      developer_email text not null,
      created_at bigint not null
    )`,
    `create table applications (
      id uuid primary key,
      project_id uuid not null references projects (id),
      name text not null,
      client_id text not null unique,
      status text not null check (status in ('approved', 'pending', 'revoked')),
      products text[] not null,
      level text not null,
      response_form text not null check (response_form in ('products', 'refresh')),
      lifetime_seconds integer not null check (lifetime_seconds > 0),
      created_at bigint not null
    )`,
    `create index applications_project on applications (project_id)`,
    `create table secrets (
      id uuid primary key,
      application_id uuid not null references applications (id),
      key_id text not null,
      hash text not null,
      prefix text not null,
      created_at bigint not null,
      expires_at bigint,
      last_used_at bigint
    )`,
    `create index secrets_application on secrets (application_id)`,
    `create table tokens (
      hash text primary key,
      application_id uuid not null,
      issued_at bigint not null,
      expires_at bigint not null
    )`,
    `create index tokens_expiry on tokens (expires_at)`,
    `create table failures (
      key text primary key,
      count integer not null,
      resets_at bigint not null
    )`,
    `create table usage (
      application_id uuid not null,
      hour bigint not null,
      tokens integer not null,
      primary key (application_id, hour)
    )`,
    `create table audit (
      id bigint primary key generated always as identity,
      at bigint not null,
      event text not null,
      client_id text,
      address text,
      detail text,
      count integer not null
    )`,
  ],
}
