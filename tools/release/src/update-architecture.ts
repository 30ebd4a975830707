import { readFileSync, writeFileSync } from 'node:fs'
import { contributing } from './checks/imports.ts'
import { withArchitecture } from './imports/architecture-diagram.ts'
import { readImports } from './imports/read-imports.ts'

const { modules } = await readImports({})
writeFileSync(contributing, withArchitecture(readFileSync(contributing, 'utf8'), modules))
