import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ApiConfigs, RunningApis } from './api-config.ts'

/** The application needs the built package. */
export const isBuilt = existsSync(new URL('../../dist/nestjs/index.js', import.meta.url))

/** Runs the APIs in a NestJS application. */
export async function startNest(
  version: 10 | 11 | 12,
  platform: 'express' | 'fastify',
  configs: ApiConfigs,
): Promise<RunningApis> {
  const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const child = fork(file('nest-process.ts'), {
    execArgv: ['--import', file('resolve-nest.mjs')],
    env: { ...process.env, NEST: String(version), PLATFORM: platform, APIS: JSON.stringify(configs) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const output: string[] = []
  child.stdout?.on('data', (text) => output.push(String(text)))
  child.stderr?.on('data', (text) => output.push(String(text)))
  const ended = once(child, 'exit')
  const [{ origin, core }] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error(`The application ended: ${output.join('')}`))),
  ])) as [{ origin: string; core: string }]
  if (!core.includes(`@nestjs+core@${version}.`)) throw new Error(`Not NestJS ${version}: ${core}`)
  return {
    origin,
    async close() {
      child.disconnect()
      await ended
    },
  }
}
