import type { Migration } from '../migrate.ts'
import { initial } from './0001-initial.ts'
import { developers } from './0002-developers.ts'
import { passwordLinks } from './0003-password-links.ts'

/** Every step from an empty database to the schema in `schema.ts`, in order; none is ever changed once released. */
export const migrations: readonly Migration[] = [initial, developers, passwordLinks]
