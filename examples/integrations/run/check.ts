// Runs every example in a separate process, against its own platform.
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pLimit from 'p-limit'
import { startPlatform } from './platform.ts'

const folder = fileURLToPath(new URL('../', import.meta.url))
const [only = ''] = process.argv.slice(2)
const examples = readdirSync(folder).flatMap((file) => /^(.+)\.tsx?$/.exec(file)?.[1] ?? [])

const runtimes: Record<string, readonly [file: string, ...args: string[]]> = {
  bun: [join(folder, 'node_modules/.bin/bun')],
  deno: [join(folder, 'node_modules/.bin/deno'), 'run', '--allow-all'],
}

async function check(name: string): Promise<string | undefined> {
  const platform = await startPlatform()
  const [file, ...args] = runtimes[name] ?? [process.execPath]
  try {
    await promisify(execFile)(file, [...args, 'run/call-example.ts', name], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...platform.environment },
      timeout: 60_000,
    })
    // KafkaJS reconnects when a broker rejects its token: the callback itself does not notice a revocation.
    const expected = name === 'kafkajs' ? 1 : 3
    return platform.issued === expected
      ? undefined
      : `requested ${platform.issued} tokens instead of ${expected}`
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string }
    return stderr || message
  } finally {
    await platform.close()
  }
}

const limit = pLimit(3)
let failures = 0
await Promise.all(
  examples
    .filter((name) => name.includes(only))
    .map((name) =>
      limit(async () => {
        const problem = await check(name)
        if (problem) failures++
        process.stdout.write(`${problem ? '✗' : '✓'} ${name}${problem ? `: ${problem}` : ''}\n`)
      }),
    ),
)
process.stdout.write(`${failures === 0 ? 'All examples pass.' : `${failures} examples failed.`}\n`)
process.exitCode = failures === 0 ? 0 : 1
