import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

/**
 * Lists the packages whose code is bundled, because no lock file of a user names them: `third-party.cdx.json` in the form that
 * scanners read (CycloneDX), and `third-party-licences.txt` with their licences.
 */
export const thirdParty: Plugin = {
  name: 'third-party',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
    const packages = [...new Set(folders)].map(readPackage).sort((a, b) => (a.name < b.name ? -1 : 1))
    const components = packages.map(({ name, version, licence }) => ({
      type: 'library',
      name,
      version,
      licenses: [{ license: { id: licence } }],
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    }))
    // What an earlier step of the same build has bundled.
    const [listBefore, textsBefore] = ['third-party.cdx.json', 'third-party-licences.txt'].map((name) =>
      existsSync(join('dist', name)) ? readFileSync(join('dist', name), 'utf8') : undefined,
    )
    const others = listBefore ? (JSON.parse(listBefore) as { components: typeof components }).components : []
    const all = [...others, ...components].sort((a, b) => (a.name < b.name ? -1 : 1))
    const list = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, components: all }
    const texts = [
      ...(textsBefore ? [textsBefore] : []),
      ...packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}\n`),
    ]
    this.emitFile({
      type: 'asset',
      fileName: 'third-party.cdx.json',
      source: `${JSON.stringify(list, undefined, 2)}\n`,
    })
    this.emitFile({
      type: 'asset',
      fileName: 'third-party-licences.txt',
      source: texts.join(`\n${'-'.repeat(80)}\n\n`),
    })
  },
}

function readPackage(folder: string) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
    'name' | 'version' | 'license',
    string
  >
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  if (file === undefined) throw new Error(`${manifest.name} has no licence`)
  const { name, version, license: licence } = manifest
  return { name, version, licence, text: readFileSync(join(folder, file), 'utf8').trim() }
}
