import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const links = { recursive: true, verbatimSymlinks: true }

/**
 * Copies the repository to a temporary folder, with uncommitted changes and built files. The packages there import
 * each other; what else they import is shared with the original.
 */
export function copyRepository(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'tokenwell-mutation-'))
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
  for (const file of files) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file), links)
  }
  const packages = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  )
  for (const folder of packages)
    for (const name of ['node_modules', 'dist'])
      if (existsSync(join(root, folder, name)))
        cpSync(join(root, folder, name), join(copy, folder, name), links)
  // Links between packages are relative: here they lead to the copies.
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@tokenwell')
      cpSync(join(root, 'node_modules', name), join(copy, 'node_modules', name), links)
    else if (!name.startsWith('.vite'))
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  }
  return copy
}
