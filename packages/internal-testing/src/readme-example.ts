import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'

/**
 * Compiles and runs a TypeScript example of a package's README, as a reader who copies it would.
 *
 * @param folder the folder of the package
 * @param index of the example, counted from 0
 * @returns what the example exports
 */
export async function runReadmeExample(
  folder: URL,
  environment: Record<string, string>,
  index = 0,
): Promise<Record<string, unknown>> {
  const readme = readFileSync(new URL('README.md', folder), 'utf8')
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)][index]?.[1]
  if (example === undefined) throw new Error('The README has no example')
  if (example.trim().split('\n').length > 12) throw new Error('The example is longer than 12 lines')
  const built = new URL('test/dist/', folder)
  const file = new URL('readme-example.ts', built)
  // As a project of the reader: with `exactOptionalPropertyTypes`, axios takes no environment variable as `baseURL`.
  const compilerOptions = { exactOptionalPropertyTypes: false }
  const files = ['readme-example.ts']
  const config = { extends: '../../tsconfig.json', compilerOptions, files, include: [] }
  mkdirSync(built, { recursive: true })
  writeFileSync(file, example)
  writeFileSync(new URL('tsconfig.json', built), JSON.stringify(config))
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  const tsc = typescript.replace('package.json', 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', fileURLToPath(built)], { stdio: 'pipe' })
  // Other test files share this process.
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  return import(/* @vite-ignore */ `${file.href}?${Date.now()}`) as Promise<Record<string, unknown>>
}
