import commonjs from '@rollup/plugin-commonjs'
import json from '@rollup/plugin-json'
import nodeResolve from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import { execFile } from 'node:child_process'
import { builtinModules } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { rollup } from 'rollup'
import { build as vite } from 'vite'
import webpack from 'webpack'

const here = fileURLToPath(new URL('.', import.meta.url))
const builtins = [...builtinModules, /^node:/]

/** Each bundles `entry` into `file`, for `platform` node or browser, with as few settings as possible. */
export const bundlers = {
  esbuild: ({ entry, file, platform }) =>
    esbuild.build({ entryPoints: [entry], bundle: true, platform, format: 'iife', outfile: file }),

  async rolldown({ entry, file, platform }) {
    const bundle = await rolldown({ input: entry, platform, cwd: here })
    await bundle.write({ file, format: platform === 'node' ? 'cjs' : 'iife', codeSplitting: false })
  },

  async rollup({ entry, file, platform }) {
    const bundle = await rollup({
      input: entry,
      external: platform === 'node' ? builtins : [],
      plugins: [
        nodeResolve({ browser: platform === 'browser', preferBuiltins: platform === 'node' }),
        commonjs(),
        json(),
      ],
      onwarn() {},
    })
    await bundle.write({ file, format: platform === 'node' ? 'cjs' : 'iife', inlineDynamicImports: true })
  },

  vite: ({ entry, file, platform }) =>
    vite({
      root: here,
      configFile: false,
      logLevel: 'error',
      ...(platform === 'node' && { ssr: { noExternal: true } }),
      build: {
        ssr: platform === 'node',
        emptyOutDir: false,
        outDir: fileURLToPath(new URL('.', `file://${file}`)),
        rolldownOptions: {
          input: entry,
          output: { entryFileNames: file.split(/[/\\]/).at(-1), format: platform === 'node' ? 'cjs' : 'es' },
        },
      },
    }),

  webpack: ({ entry, file, platform }) =>
    new Promise((resolve, reject) => {
      const [, path, filename] = /^(.*)[/\\](.+)$/.exec(file)
      const target = platform === 'node' ? 'node' : 'web'
      webpack(
        { mode: 'production', context: here, entry, target, output: { path, filename } },
        (error, stats) =>
          error || stats.hasErrors() ? reject(error ?? new Error(stats.toString('errors-only'))) : resolve(),
      )
    }),

  // package.json contains both targets.
  parcel: ({ platform }) =>
    promisify(execFile)(
      process.execPath,
      [
        `${here}node_modules/parcel/lib/bin.js`,
        'build',
        '--target',
        `parcel-${platform}`,
        '--no-cache',
        '--no-autoinstall',
        '--no-source-maps',
      ],
      { cwd: here, env: { ...process.env, PARCEL_WORKERS: '1' } },
    ),
}
