import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { startPlatform } from './platform.ts'

const folder = new URL('../', import.meta.url)
const names = readdirSync(folder).flatMap((file) => /^(.+)\.js$/.exec(file)?.[1] ?? [])
const [name = ''] = process.argv.slice(2)

if (!names.includes(name)) {
  process.stderr.write(`Usage: pnpm example ${names.join(' | ')}\n`)
  process.exit(2)
}

const platform = await startPlatform()
const needsRedis = name === 'fleet' && !process.env['REDIS_URL']
const redis = needsRedis && redisInstalled ? await startRedis() : undefined
// On Ctrl+C, the example exits first.
process.on('SIGINT', () => {})
const example = spawn(process.execPath, [fileURLToPath(new URL(`${name}.js`, folder))], {
  env: { ...process.env, ...platform.environment, ...(redis && { REDIS_URL: redis.url }) },
  stdio: 'inherit',
})
process.on('SIGTERM', () => void example.kill())
const [code] = (await once(example, 'exit')) as [number | null]
await Promise.all([platform.close(), redis?.[Symbol.asyncDispose]()])
process.exitCode = code ?? 0
