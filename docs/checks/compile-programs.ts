import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './assemble-programs.ts'
import { examples, root } from './places.ts'

const folder = join(examples, '.docs')

const config = {
  extends: '../tsconfig.build.json',
  compilerOptions: { rootDir: '..', outDir: 'dist' },
  include: ['*.ts', '../run/*.ts'],
}

/**
 * Compiles programs as a reader's project would, against the built packages.
 *
 * @returns the errors of the compiler, each with page and line
 */
export function compilePrograms(programs: readonly Program[]): string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const { fileName, source } of programs) writeFileSync(join(folder, fileName), source)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === 0) return []
  const pages = new Map(programs.map(({ fileName, page }) => [fileName, page]))
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/^(\S+?)\((\d+),\d+\)/, (_, file, at) => `${pages.get(file) ?? file}:${at}`))
}

/** Where a compiled program is. */
export function compiledFile({ fileName }: Program): string {
  return join(folder, 'dist/.docs', fileName.replace(/\.ts$/, '.js'))
}
