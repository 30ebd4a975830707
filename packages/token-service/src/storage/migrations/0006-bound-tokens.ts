import type { Migration } from './migration.ts'

/** Tokens are bound to keys and to APIs, resource servers to audiences, and scopes to APIs. */
export const boundTokens: Migration = {
  name: '0006-bound-tokens',
  statements: () => [
    `alter table applications add column dpop text not null default 'allowed'
      check (dpop in ('none', 'allowed', 'required'))`,
    `alter table tokens add column audiences text not null default '[]'`,
    `alter table tokens add column key_thumbprint text`,
    `alter table resource_servers add column audiences text`,
    `alter table scopes add column audience text`,
    `alter table scopes add column description text`,
  ],
}
