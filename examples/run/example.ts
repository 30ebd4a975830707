import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startPlatform } from './platform.ts'
import { startRedis } from './redis.ts'

const folder = new URL('../', import.meta.url)
const names = readdirSync(folder).flatMap((file) => /^(.+)\.js$/.exec(file)?.[1] ?? [])
const [name = ''] = process.argv.slice(2)

if (!names.includes(name)) {
  process.stderr.write(`Usage: pnpm example ${names.join(' | ')}\n`)
  process.exit(2)
}

const platform = await startPlatform()
const redis = name === 'fleet' && !process.env['REDIS_URL'] ? await startRedis() : undefined
// On Ctrl+C, the example exits first.
process.on('SIGINT', () => {})
const example = spawn(process.execPath, [fileURLToPath(new URL(`${name}.js`, folder))], {
  env: { ...process.env, ...platform.environment, ...(redis && { REDIS_URL: redis.url }) },
  stdio: 'inherit',
})
process.on('SIGTERM', () => void example.kill())
const [code] = (await once(example, 'exit')) as [number | null]
await Promise.all([platform.close(), redis?.close()])
process.exitCode = code ?? 0
