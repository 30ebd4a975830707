import { describeForeignEntries } from './foreign-entries.ts'

describeForeignEntries(20_000)
