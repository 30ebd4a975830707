import type { Migration } from './migration.ts'

/** Products say what they are for, as scopes do. */
export const describedProducts: Migration = {
  name: '0008-described-products',
  statements: () => ['alter table products add column description text'],
}
