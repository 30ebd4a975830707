import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as core from '@tokenwell/core'
import { buildCore, runNode } from './built-core.ts'

describe('the published file', () => {
  it('imports nothing, not even when its neutral bundle is built again', async () => {
    const { chunks, file } = await buildCore()
    for (const { fileName, imports, dynamicImports } of chunks) {
      // Every entry reads one more file.
      expect([...imports, ...dynamicImports]).toEqual(fileName === 'chunks/core.js' ? [] : ['chunks/core.js'])
    }
    const imported: string[] = []
    const bundle = await rolldown({
      input: file,
      platform: 'neutral',
      external: (id, _importer, isResolved) => {
        if (!isResolved && id !== file && id !== './chunks/core.js') imported.push(id)
        return false
      },
    })
    const { output } = await bundle.generate({ format: 'esm', comments: false })
    await bundle.close()
    const { code } = output[0]
    expect(imported).toEqual([])
    expect(output).toHaveLength(1)
    expect(output[0].imports).toEqual([])
    for (const builtin of builtinModules) expect(code).not.toContain(`node:${builtin}`)
    expect(code).not.toMatch(/\brequire\(|\bimport\(|\bprocess\.\w|\bBuffer\b|\b__dirname\b/)
  })

  it('leaves the code for shared stores to programs that have a store', async () => {
    const { file } = await buildCore()
    const bundleOf = async (names: string): Promise<string> => {
      const bundle = await rolldown({
        input: 'program',
        plugins: [
          {
            name: 'program',
            resolveId: (id) => (id === 'program' ? id : undefined),
            load: (id) => (id === 'program' ? `export { ${names} } from '${file}'` : undefined),
          },
        ],
      })
      const { output } = await bundle.generate({ format: 'esm' })
      await bundle.close()
      return output[0].code
    }
    expect(await bundleOf('createMemoryTokenStore')).toContain('store_unavailable')
    expect(await bundleOf('clientCredentials, createTokenPool, createTokenFetch')).not.toContain(
      'store_unavailable',
    )
  })

  it.each(['index', 'adapter', 'protocol', 'testing'])(
    'exports the same names as its sources: %s',
    async (entry) => {
      const { file } = await buildCore()
      const built = (await import(file.replace('index', entry))) as object
      const source = (await import(`../../src/${entry}.ts`)) as object
      expect(Object.keys(built).toSorted()).toEqual(Object.keys(source).toSorted())
    },
  )

  it('offers an application no more than it imports', () => {
    expect(Object.keys(core).toSorted()).toEqual([
      'TokenError',
      'backendTokens',
      'clientAssertion',
      'clientCredentials',
      'clientCredentialsForResource',
      'createMemoryTokenStore',
      'createTokenFetch',
      'createTokenPool',
      'createTokenProvider',
      'credentialsFrom',
      'fromOpenApi',
      'isRejectedByPage',
      'isTokenError',
      'jwtBearer',
      'tokenExchange',
      'tokenResponseBody',
    ])
  })

  it.each(['esm', 'cjs'] as const)('does not touch slow globals while it loads as %s', async (format) => {
    const { file: built } = await buildCore()
    const file = `${built}.${format === 'esm' ? 'mjs' : 'cjs'}`
    const bundle = await rolldown({ input: built, treeshake: false })
    await bundle.write({ file, format })
    await bundle.close()
    const touched = await runNode(`
      const touched = []
      for (const name of ['fetch', 'Request', 'Response', 'Headers', 'FormData', 'Blob', 'WebSocket', 'crypto', 'navigator', 'localStorage', 'window', 'document']) {
        const own = Object.getOwnPropertyDescriptor(globalThis, name)
        Object.defineProperty(globalThis, name, { configurable: true, get() { touched.push(name); return own?.get?.call(globalThis) ?? own?.value } })
      }
      for (const name of ['setTimeout', 'setInterval', 'queueMicrotask']) globalThis[name] = () => { touched.push(name) }
      const eval_ = globalThis.eval
      globalThis.Function = new Proxy(Function, { construct() { touched.push('Function'); throw new Error('no code generation') } })
      await import(${JSON.stringify(file)})
      process.stdout.write(JSON.stringify(touched))
    `)
    expect(JSON.parse(touched)).toEqual([])
  })
})

it('the published declarations import no other package', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'core-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const compiler = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url))
  const project = fileURLToPath(new URL('../../tsconfig.build.json', import.meta.url))
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--outDir', folder])
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.d.ts'))
  expect(files.length).toBeGreaterThan(20)
  for (const name of files) {
    const declarations = await readFile(join(folder, name), 'utf8')
    for (const [, from] of declarations.matchAll(/(?:from|import)\s*\(?['"]([^'"]+)['"]/g)) {
      expect(from, name).toMatch(/^\.\.?\//)
    }
  }
})
