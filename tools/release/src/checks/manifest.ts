import { relative } from 'node:path'
import { projectFolder, readManifest } from '../public-packages.ts'
import type { PackedPackage } from './packed-package.ts'

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']

/** The fields that registries and package managers read must exist and be correct. */
export function checkManifest({ folder, packedManifest: manifest }: PackedPackage): string[] {
  const problems: string[] = []
  const expect = (right: boolean, problem: string) => {
    if (!right) problems.push(`package.json ${problem}`)
  }
  const { repository } = readManifest(projectFolder)
  const { description = '', keywords = [], scripts = {} } = manifest

  expect(manifest.license === 'MIT', 'must have "license": "MIT"')
  expect(manifest.type === 'module', 'must have "type": "module"')
  expect(manifest.sideEffects === false, 'must have "sideEffects": false')
  expect(description.length > 20, 'needs a description')
  expect(keywords.length >= 3, 'needs at least three keywords')
  expect(manifest.repository?.url === repository?.url, `must name the repository ${repository?.url}`)
  expect(
    manifest.repository?.directory === relative(projectFolder, folder),
    'must name its directory in the repository',
  )
  expect(manifest.engines?.node !== undefined, 'needs engines.node')
  expect(manifest.publishConfig?.access === 'public', 'must have publishConfig.access "public"')
  for (const script of installScripts) {
    expect(!(script in scripts), `has the script "${script}": nothing may run while a package is installed`)
  }
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies'] as const) {
    for (const [name, range] of Object.entries(manifest[field] ?? {})) {
      const bounded = /^(?:\^\d[\d.]*(?: \|\| )?)+$/.test(range)
      expect(bounded, `has the ${field} range "${name}": "${range}" instead of "^…"`)
    }
  }
  return problems
}
