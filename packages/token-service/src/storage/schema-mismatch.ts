import { UsageError } from '../runtime/usage-error.ts'

/** The database has a schema that this version can neither use nor upgrade. */
export class SchemaMismatch extends UsageError {}
