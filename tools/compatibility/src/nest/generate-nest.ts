import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../../run-process.ts'

const workspace = fileURLToPath(new URL('../..', import.meta.url))

/** Generates the same project as `nest new` into `app`, and adds `OrdersModule` to it. */
export async function generateNest(program: string): Promise<void> {
  const folder = join(workspace, 'programs', program)
  const app = join(folder, 'app')
  const schematics = join(workspace, 'node_modules/@angular-devkit/schematics-cli/bin/schematics.js')
  const collection = './node_modules/@nestjs/schematics/dist/collection.json:application'
  rmSync(app, { recursive: true, force: true })
  await run(process.execPath, [schematics, collection, '--name=app', '--no-dry-run'], { folder })
  checkVersions(join(folder, 'package.json'), join(app, 'package.json'))

  const isModule = manifestOf(join(app, 'package.json')).type === 'module'
  for (const part of ['src', 'test']) {
    const from = fileURLToPath(new URL(part, import.meta.url))
    for (const file of readdirSync(from)) {
      const code = readFileSync(join(from, file), 'utf8')
      // The imports of the generated CommonJS project have no file extensions.
      writeFileSync(join(app, part, file), isModule ? code : code.replaceAll(/(from '.+)\.js'/g, "$1'"))
    }
  }
  const module = join(app, 'src/app.module.ts')
  const ending = isModule ? '.js' : ''
  writeFileSync(
    module,
    `import { OrdersModule } from './orders.module${ending}';\n${readFileSync(module, 'utf8')}`.replace(
      'imports: []',
      'imports: [OrdersModule]',
    ),
  )
}

interface Manifest {
  readonly type?: string
  readonly dependencies: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

function manifestOf(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}

/** The dependencies of the generated project are installed here. */
function checkVersions(installed: string, generated: string): void {
  const { dependencies, devDependencies } = manifestOf(generated)
  const wanted: Record<string, string> = { ...dependencies, ...devDependencies }
  for (const [name, range] of Object.entries(manifestOf(installed).dependencies)) {
    if (wanted[name] !== undefined && wanted[name] !== range)
      throw new Error(`${installed}: ${name} must be ${wanted[name]}, as the generated project has it`)
  }
}
