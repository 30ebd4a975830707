import { join } from 'node:path'
import { startPlatform } from '../../examples/run/platform.ts'
import type { RedisServer } from '../../packages/internal-testing/src/redis/redis-server.ts'
import type { Network } from './check-network.ts'
import { type Program, compiledFile } from './compile-programs.ts'
import { docs, examples } from './read-site.ts'
import { runProcess } from './run-process.ts'

const others = { PORT: '0', TOKEN_KEY: btoa('k'.repeat(32)), OLD_TOKEN_KEY: btoa('o'.repeat(32)) }

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
    const { code, stdout, stderr } = await runProcess(process.execPath, args, environment, examples)
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
