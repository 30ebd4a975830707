import { readFileSync, writeFileSync } from 'node:fs'
import { checkApiReports } from './checks/api-report.ts'
import { contributing } from './checks/imports.ts'
import { checkThirdParty } from './checks/third-party.ts'
import { withArchitecture } from './imports/architecture-diagram.ts'
import { readImports } from './imports/read-imports.ts'
import { publicPackages } from './public-packages.ts'

// Writes the diagram of the architecture, the API reports, and the lists of bundled packages.

const { modules } = await readImports({})
writeFileSync(contributing, withArchitecture(readFileSync(contributing, 'utf8'), modules))
for (const one of publicPackages()) {
  checkApiReports(one, true)
  checkThirdParty(one, true)
}
