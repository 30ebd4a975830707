import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startPlatform } from '../../examples/run/platform.ts'
import type { RedisServer } from '../../packages/internal-testing/src/redis/redis-server.ts'
import type { Network } from './check-network.ts'
import { type Program, compiledFile } from './compile-programs.ts'
import { docs, examples } from './read-site.ts'
import { runNode } from './run-node.ts'

const others = {
  PORT: '0',
  TOKEN_KEY: btoa('k'.repeat(32)),
  OLD_TOKEN_KEY: btoa('o'.repeat(32)),
  ORDERS_CLIENT_ID: 'acme',
  ORDERS_CLIENT_SECRET: 'acme-secret',
  BILLING_CLIENT_ID: 'globex',
  BILLING_CLIENT_SECRET: 'globex-secret',
}

/**
 * Runs compiled programs, each in a separate process with its own token service and API.
 *
 * @returns the problems, each with page and line
 */
export async function runPrograms(
  programs: readonly Program[],
  network: Network,
  redis: RedisServer | undefined,
): Promise<string[]> {
  const waiting = [...programs]
  const problems: string[] = []
  const work = async (): Promise<void> => {
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const problem = await runProgram(program, network, redis)
      if (problem !== undefined) problems.push(`${program.page}:${program.line} ${problem}`)
    }
  }
  await Promise.all([work(), work(), work()])
  return problems
}

async function runProgram(
  program: Program,
  network: Network,
  redis: RedisServer | undefined,
): Promise<string | undefined> {
  const platform = await startPlatform()
  try {
    const environment = {
      ...platform.environment,
      ...network.environment,
      ...(redis && { REDIS_URL: redis.url }),
      ...others,
    }
    const args = [join(docs, 'checks/reader.ts'), compiledFile(program), ...(program.inPage ? ['page'] : [])]
    const { code, stdout, stderr } = await runNode(args, examples, environment)
    if (code !== 0 || stderr !== '') return `ended with code ${code}:\n${stderr || stdout}`
    if (program.output !== undefined && !matches(stdout, program.output)) return `printed:\n${stdout}`
    return undefined
  } finally {
    await platform.close()
  }
}

/** `…` matches text that differs between runs. */
function matches(printed: string, expected: string): boolean {
  const parts = expected
    .trim()
    .split('…')
    .map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('.*')}$`).test(printed.trim())
}

/** The required output of each example. */
const expected: Readonly<Record<string, RegExp>> = {
  axios: /^tea, cups\n\{ id: 3, item: 'sugar' \}\n401\n$/,
  fetch: /^token_requested\ntoken_received\n(?:200 ?){10}\n\{ id: 3, item: 'sugar' \}\n$/,
  fleet: /^(?:Process \d got a token from the (?:endpoint|store)\n){3}All have the same token\n$/,
  ky: /^tea, cups\n\{ id: 3, item: 'sugar' \}\n401\n$/,
  nestjs: /^tea, cups\nThe token expires in 60 minutes\n$/,
  'nestjs-api':
    /^tea, cups\n403 The access token does not cover the product orders\.\n401 Bearer realm="orders"\n200\n$/,
  sandbox: /pass 4\n.*fail 0\n/s,
  telemetry: /^span token request first\n(?:metric tokenwell\.\S+ in s\n){4}$/,
  tenants: /^acme 200\nglobex 200\nacme 200\n2 tenants, 2 tokens\n$/,
}

export function exampleNames(): string[] {
  return readdirSync(examples).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? [])
}

/** Runs every built example; returns the problems. */
export async function runExamples(redis: RedisServer | undefined): Promise<string[]> {
  const problems: string[] = []
  for (const name of exampleNames()) {
    if (name === 'fleet' && redis === undefined) continue
    const platform = await startPlatform()
    const environment = { ...platform.environment, ...(redis && { REDIS_URL: redis.url }) }
    const run = name === 'express' ? serve(environment) : print(name, environment)
    const problem = await run.catch((error: Error) => error.message)
    if (problem !== undefined) problems.push(`examples/${name}.ts ${problem}`)
    await platform.close()
  }
  return problems
}

async function print(name: string, environment: Record<string, string>): Promise<string | undefined> {
  const { code, stdout, stderr } = await runNode([`dist/${name}.js`], examples, environment)
  const right = code === 0 && stderr === '' && expected[name]?.test(stdout)
  return right ? undefined : `ended with code ${code} and printed:\n${stdout}${stderr}`
}

/** The script of the page is not executed, but its requests are sent. */
async function serve(environment: Record<string, string>): Promise<string | undefined> {
  const child = spawn(process.execPath, [join(examples, 'dist/express.js')], {
    env: { ...process.env, ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (text) => resolve(String(text).replace('Open', '').trim()))
      child.once('exit', () => reject(new Error('it ended')))
    })
    const [page, script, token] = await Promise.all([
      fetch(url),
      fetch(`${url}/core.js`),
      fetch(`${url}/token`, { method: 'POST' }),
    ])
    const { expires_in: lifetime } = (await token.json()) as { expires_in: number }
    const right = (await page.text()).includes('/core.js') && script.ok && lifetime > 0 && lifetime <= 300
    return right ? undefined : 'does not serve its page, the page’s script and tokens'
  } finally {
    child.kill()
  }
}
