import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

/** Writes the licences of the packages that are bundled. */
export const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
    const texts = [...new Set(folders)].sort().map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
      if (file === undefined) throw new Error(`${name} has no licence`)
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    })
    const source = texts.join(`\n${'-'.repeat(80)}\n\n`)
    this.emitFile({ type: 'asset', fileName: 'third-party-licences.txt', source })
  },
}
