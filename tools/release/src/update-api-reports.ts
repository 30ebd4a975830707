import { checkApiReports } from './checks/api-report.ts'
import { publicPackages } from './public-packages.ts'

for (const one of publicPackages()) checkApiReports(one, true)
