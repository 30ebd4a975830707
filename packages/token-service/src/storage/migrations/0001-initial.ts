import type { Migration } from './migration.ts'

const isKept = 'The audit log cannot be changed, and its entries are kept until their retention has ended.'

// What is only counted, in rows with a key, may change.
const auditTriggersOfSqlite = [
  `create trigger audit_update before update on audit when old.counted_key is null
    begin select raise(abort, '${isKept}'); end`,
  `create trigger audit_delete before delete on audit
    when old.counted_key is null and old.id > coalesce((select ended_id from audit_retention), 0)
    begin select raise(abort, '${isKept}'); end`,
]
const auditTriggersOfPostgres = [
  `create function audit_is_kept() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.id <= coalesce((select ended_id from audit_retention), 0) then return old; end if;
      end if;
      raise exception '${isKept}';
    end $$`,
  `create trigger audit_update before update on audit for each row when (old.counted_key is null)
    execute function audit_is_kept()`,
  `create trigger audit_delete before delete on audit for each row when (old.counted_key is null)
    execute function audit_is_kept()`,
  `create trigger audit_truncate before truncate on audit execute function audit_is_kept()`,
]

export const initial: Migration = {
  name: '0001-initial',
  statements: ({ kind, identity, bytewise }) => [
    `create table projects (
      id text primary key,
      name text not null,
      organization_name text not null,
      developer_email text not null,
      created_at_ms bigint not null,
      deletes_at_ms bigint,
      deleted_by text check (deleted_by in ('owner', 'administrator')),
      name_key text not null unique,
      folded_name text not null,
      sort_name ${bytewise} not null
    )`,
    `create index projects_sort on projects (sort_name, id)`,
    `create index projects_creation on projects (created_at_ms, id)`,
    `create index projects_deletion on projects (deletes_at_ms) where deletes_at_ms is not null`,
    `create table applications (
      id text primary key,
      project_id text not null references projects (id) on delete cascade,
      name text not null,
      client_id text not null unique,
      status text not null check (status in ('approved', 'pending', 'revoked')),
      products text not null,
      scopes text not null,
      level text not null,
      organization_name text not null,
      developer_email text not null,
      response_form text not null check (response_form in ('products', 'refresh', 'rfc6749')),
      lifetime_seconds integer not null check (lifetime_seconds > 0),
      token_format text not null check (token_format in ('opaque', 'jwt')),
      audiences text not null,
      created_at_ms bigint not null,
      requested text check (requested is null or status = 'approved'),
      review text,
      keys text not null,
      claims text not null,
      revision integer not null,
      token_generation integer not null,
      deletes_at_ms bigint,
      deleted_by text check (deleted_by in ('owner', 'administrator')),
      dpop text not null check (dpop in ('none', 'allowed', 'required')),
      requested_at_ms bigint not null,
      folded_name text not null,
      sort_name ${bytewise} not null
    )`,
    `create index applications_project on applications (project_id)`,
    `create index applications_sort on applications (sort_name, id)`,
    `create index applications_creation on applications (created_at_ms, id)`,
    `create index applications_awaiting on applications (requested_at_ms, id)
      where status = 'pending' or requested is not null`,
    `create index applications_deletion on applications (deletes_at_ms) where deletes_at_ms is not null`,
    `create table products (
      name text primary key,
      description text
    )`,
    `create table scopes (
      name text primary key,
      audience text,
      description text
    )`,
    `create table resource_servers (
      id text primary key,
      audiences text,
      name text not null,
      client_id text not null unique,
      created_at_ms bigint not null,
      keys text not null,
      revision integer not null
    )`,
    // The owner is an application or a resource server.
    `create table secrets (
      id text primary key,
      owner_id text not null,
      key_id text not null,
      hash text not null,
      prefix text not null,
      created_at_ms bigint not null,
      expires_at_ms bigint
    )`,
    `create index secrets_owner on secrets (owner_id)`,
    `create index secrets_expiry on secrets (expires_at_ms)`,
    `create index secrets_key on secrets (key_id, expires_at_ms)`,
    // Forms that were sent, so that each creates something once.
    `create table submissions (
      key text primary key,
      created_id text not null,
      expires_at_ms bigint not null
    )`,
    `create index submissions_expiry on submissions (expires_at_ms)`,
    `create table removed_hash_keys (
      key_id text primary key,
      removed_at_ms bigint not null
    )`,
    // A row remains when its subject is deleted.
    `create table last_uses (
      id text primary key,
      at_ms bigint not null
    )`,
    `create index last_uses_order on last_uses (at_ms, id)`,
    // No foreign key: the check would cost a read for each token, and tokens of a deleted application expire.
    `create table tokens (
      hash text primary key,
      application_id text not null,
      secret_id text not null,
      generation integer not null,
      products text not null,
      scopes text not null,
      audiences text not null,
      key_thumbprint text,
      issued_at_ms bigint not null,
      expires_at_ms bigint not null
    )`,
    `create index tokens_expiry on tokens (expires_at_ms)`,
    `create table failures (
      key text primary key,
      count integer not null,
      resets_at_ms bigint not null
    )`,
    `create index failures_reset on failures (resets_at_ms)`,
    `create table trusted_issuers (
      id text primary key,
      issuer text not null unique,
      jwks_url text,
      jwks text,
      audiences text not null,
      detect_replay integer not null check (detect_replay in (0, 1)),
      rules text not null,
      configured integer not null check (configured in (0, 1)),
      created_at_ms bigint not null
    )`,
    `create table signing_keys (
      kid text primary key,
      algorithm text not null,
      public_key text not null,
      encrypted_key text not null,
      state text not null check (state in ('next', 'current', 'last')),
      created_at_ms bigint not null,
      expires_at_ms bigint
    )`,
    `create table used_assertions (
      hash text primary key,
      expires_at_ms bigint not null
    )`,
    `create index used_assertions_expiry on used_assertions (expires_at_ms)`,
    `create table usage (
      client_id text not null,
      hour_ms bigint not null,
      outcome text not null,
      requests integer not null,
      primary key (client_id, hour_ms, outcome)
    )`,
    `create index usage_time on usage (hour_ms)`,
    `create index usage_failures on usage (hour_ms) where outcome <> 'issued'`,
    `create table token_requests (
      client_id text not null,
      minute_ms bigint not null,
      outcome text not null,
      address text not null,
      at_ms bigint not null,
      count integer not null,
      primary key (client_id, minute_ms, outcome, address)
    )`,
    `create index token_requests_time on token_requests (at_ms)`,
    `create table audit (
      id ${identity},
      at_ms bigint not null,
      event text not null,
      actor_type text,
      actor text,
      actor_id text,
      client_id text,
      address text,
      detail text,
      changes text,
      count integer not null,
      counted_key text unique
    )`,
    // Up to this entry, the retention has ended.
    `create table audit_retention (
      id integer primary key check (id = 1),
      ended_id bigint not null
    )`,
    `insert into audit_retention values (1, 0)`,
    ...(kind === 'postgres' ? auditTriggersOfPostgres : auditTriggersOfSqlite),
    `create table purge_time (
      id integer primary key check (id = 1),
      at_ms bigint not null,
      key_id text not null,
      signature text not null
    )`,
    `create index audit_time on audit (at_ms)`,
    `create index audit_client on audit (client_id, id)`,
    `create index audit_actor on audit (actor, id)`,
    `create index audit_event on audit (event, id)`,
    `create index audit_counted on audit (at_ms) where counted_key is not null`,
    `create table developers (
      id text primary key,
      name text not null unique,
      password_hash text not null,
      administrator integer not null check (administrator in (0, 1)),
      created_at_ms bigint not null,
      folded_name text not null,
      sort_name ${bytewise} not null
    )`,
    `create index developers_sort on developers (sort_name, id)`,
    `create index developers_creation on developers (created_at_ms, id)`,
    `create table invitations (
      hash text primary key,
      name text,
      administrator integer not null check (administrator in (0, 1)),
      expires_at_ms bigint not null,
      created_by text
    )`,
    `create table password_links (
      hash text primary key,
      developer_id text not null references developers (id) on delete cascade,
      expires_at_ms bigint not null,
      created_by text
    )`,
    `create index password_links_developer on password_links (developer_id)`,
    `create table identities (
      issuer text not null,
      subject text not null,
      developer_id text not null references developers (id) on delete cascade,
      primary key (issuer, subject)
    )`,
    `create index identities_developer on identities (developer_id)`,
    `create table memberships (
      developer_id text not null references developers (id),
      project_id text not null references projects (id) on delete cascade,
      primary key (developer_id, project_id)
    )`,
    `create index memberships_project on memberships (project_id)`,
    `create table sessions (
      hash text primary key,
      developer_id text not null references developers (id),
      expires_at_ms bigint not null,
      address text,
      browser text,
      id_token text,
      issuer text,
      subject text,
      sid text
    )`,
    `create index sessions_developer on sessions (developer_id)`,
    `create index sessions_subject on sessions (subject) where subject is not null`,
    `create index sessions_sid on sessions (sid) where sid is not null`,
    `create table probes (
      id integer primary key,
      at_ms bigint not null
    )`,
  ],
}
