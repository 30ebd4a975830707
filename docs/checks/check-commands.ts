import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from '../../tools/run-process.ts'
import type { Block } from './read-blocks.ts'
import { root } from './read-site.ts'

/** Other programs. Their arguments are not checked. */
const others = new Set([
  'chmod',
  'cp',
  'createdb',
  'createuser',
  'curl',
  'docker',
  'systemctl',
  'echo',
  'export',
  'node',
  'npm',
  'openapi-ts',
  'openssl',
  'pg_dump',
  'pg_restore',
  'redis-cli',
])
const nestCommands = new Set(['build', 'run'])

/** Checks every line of the shell blocks: that its command exists, and accepts the flags. */
export function checkCommands(blocks: readonly Block[]): string[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, line, text }) =>
      commandsIn(text).flatMap((words) => {
        const problem = problemOf(words)
        return problem === undefined ? [] : [`${page}:${line} ${words.join(' ')}: ${problem}`]
      }),
    )
}

/** Runs the shell blocks of CONTRIBUTING.md in the project, as a contributor would. */
export async function runCommands(blocks: readonly Block[]): Promise<string[]> {
  const scripts = blocks.filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
  const problems: string[] = []
  for (const { page, line, text } of scripts) {
    const args = ['-euo', 'pipefail', '-c', text]
    const { code, stdout, stderr } = await runToEnd('bash', args, { folder: root, timeoutMs: 600_000 })
    if (code !== 0) problems.push(`${page}:${line} ended with code ${code}:\n${stdout}${stderr}`)
  }
  return problems
}

/** The commands of a script as words, without comments, redirections and variables set before them. */
function commandsIn(script: string): string[][] {
  return script
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/(^|\s)#.*$/gm, '$1')
    .replaceAll(/'[^']*'|"[^"$]*"/g, 'text')
    .split(/\n|&&|\||;|\$\(/)
    .map((command) =>
      command
        .replace(/[<>].*$/, '')
        .replace(/\)"?/g, '')
        .trim(),
    )
    .map((command) => command.split(/\s+/).filter((word, at) => word && !(at === 0 && /^\w+=/.test(word))))
    .filter((words) => words.length > 0)
}

function problemOf(words: readonly string[]): string | undefined {
  const [command, ...rest] = words
  if (command === 'npx') {
    const words = rest.slice(rest.findIndex((word, at) => !isNpxFlag(rest, at)))
    // The generators of API clients, which `pnpm check:compatibility` runs.
    return installable.has(words[0]!) && !Object.hasOwn(ownCommands, words[0]!) ? undefined : problemOf(words)
  }
  if (command === 'npm' && rest[0] === 'install') return unknownPackage(rest.slice(1))
  if (command === 'npm' && rest[0] === 'pkg') return undefined
  if (command === 'npm') return nestCommands.has(rest[0]!) ? undefined : 'no such script of a Nest project'
  if (command === 'pnpm') return unknownScript(rest)
  const own = ownCommands[command!]
  if (own !== undefined) return unknownFlag(own, rest)
  return others.has(command!) || command === '@nestjs/cli' ? undefined : 'no such command'
}

function isNpxFlag(words: readonly string[], at: number): boolean {
  return words[at]!.startsWith('-') || words[at - 1] === '-p'
}

const installable = new Set<string>()
for (const folder of ['examples', 'examples/integrations', 'packages/token-service', 'packages/cli']) {
  const manifest = join(root, folder, 'package.json')
  if (!existsSync(manifest)) continue
  const { name, dependencies, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  for (const each of [name, ...Object.keys({ ...dependencies, ...devDependencies })]) installable.add(each)
}

function unknownPackage(words: readonly string[]): string | undefined {
  const names = words.filter((word) => !/^(?:--save-dev|--global)$/.test(word))
  const unknown = names.find((name) => !installable.has(name.replace(/(?<=.)@\d+$/, '')))
  return unknown && `${unknown} is not one of the packages that the examples install`
}

interface Manifest {
  name: string
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** Of pnpm itself, and programs of the project. */
const pnpmCommands = new Set(['install', 'changeset', 'vitest', 'oxfmt', 'oxlint', 'turbo'])

function unknownScript(given: readonly string[]): string | undefined {
  const [first, place = ''] = given
  const words = first === '--filter' || first === '--dir' ? given.slice(2) : given
  const [script = ''] = words[0] === 'run' ? words.slice(1) : words
  const manifest = join(root, first === '--dir' ? place : '', 'package.json')
  if (!existsSync(manifest)) return 'no such folder'
  const { scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  return pnpmCommands.has(script) || Object.hasOwn(scripts!, script) ? undefined : 'no such script'
}

const service = 'packages/token-service/dist/command/tokenwell-service.js'
const cli = 'packages/cli/dist/tokenwell.js'
const ownCommands: Readonly<Record<string, string>> = {
  '@tokenwell/token-service': service,
  'tokenwell-service': service,
  tokenwell: cli,
}
const helps = new Map<string, string>()

/** Looks a command's flags up in its own `--help`, and in those of its subcommands. */
function unknownFlag(file: string, words: readonly string[]): string | undefined {
  const firstFlag = words.findIndex((word) => word.startsWith('-'))
  const names = firstFlag === -1 ? words : words.slice(0, firstFlag)
  const own = helpOf(file, names.slice(0, 1))
  if (own === '') return 'no such command'
  // `admin applications` is a command of a command; a second word may be an argument too.
  const help = own + helpOf(file, names.slice(0, 2)) + helpOf(file, [])
  const unknown = words.find((word) => word.startsWith('-') && !helpNames(help, word.replace(/=.*/, '')))
  return unknown && `${unknown} is not in its --help`
}

function helpOf(file: string, subcommand: readonly string[]): string {
  const key = [file, ...subcommand].join(' ')
  if (!helps.has(key)) {
    const { stdout, status } = spawnSync(process.execPath, [join(root, file), ...subcommand, '--help'], {
      encoding: 'utf8',
    })
    helps.set(key, status === 0 ? stdout : '')
  }
  return helps.get(key)!
}

function helpNames(help: string, flag: string): boolean {
  return help.split(/[\s,]+/).includes(flag)
}
