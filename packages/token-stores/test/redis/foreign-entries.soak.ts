import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { describeForeignEntries } from './foreign-entries.ts'

describeForeignEntries(20_000, createSoakTable())
