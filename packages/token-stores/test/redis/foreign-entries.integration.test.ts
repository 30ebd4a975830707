import { describeForeignEntries } from './foreign-entries.ts'

describeForeignEntries(1_000)
