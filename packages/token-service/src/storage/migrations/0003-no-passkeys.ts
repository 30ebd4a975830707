import type { Migration } from './migration.ts'

/** People log in with a password, or at their OpenID provider. */
export const noPasskeys: Migration = {
  name: '0003-no-passkeys',
  statements: () => [
    'drop table passkeys',
    'drop table recovery_codes',
    'alter table developers drop column passkey_only',
  ],
}
