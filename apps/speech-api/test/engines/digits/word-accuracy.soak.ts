import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { describeAccuracy, speakers } from './describe-accuracy.ts'

describeAccuracy(speakers, 20, { table: createSoakTable() })
