import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseCommandLine } from '../../src/command/parse-command-line.ts'

/** What the command prints, and how it exits. */
async function outcomeOf(...args: string[]): Promise<{ printed: string; exit: string }> {
  let printed = ''
  const print = (text: string | Uint8Array) => {
    printed += String(text)
    return true
  }
  const mocks = [
    vi.spyOn(process.stdout, 'write').mockImplementation(print),
    vi.spyOn(process.stderr, 'write').mockImplementation(print),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`)
    }),
  ]
  onTestFinished(() => mocks.forEach((mock) => mock.mockRestore()))
  const parsing = parseCommandLine(['node', 'tokenwell-service', ...args])
  const exit = await parsing.then(
    () => 'goes on',
    (error: Error) => error.message,
  )
  return { printed, exit }
}

async function helpOf(...args: string[]): Promise<string> {
  const { printed, exit } = await outcomeOf(...args, '--help')
  expect(exit).toBe('exit 0')
  return printed
}

/** The commands and options of a help, with their descriptions on one line. */
function entriesOf(help: string): [term: string, description: string][] {
  const lines = help
    // A description below its term.
    .replaceAll(/^( {2}\S(?:(?! {2}).)*)\n {3,}/gm, '$1  ')
    .replaceAll(/\n {3,}/g, ' ')
    .split('\n')
  return lines
    .filter((line) => /^ {2}\S/.test(line))
    .map((line) => {
      const [term = '', description = ''] = line.trim().split(/ {2,}/)
      return [term, description]
    })
}

describe('the help', () => {
  it('describes every command and option', async () => {
    const entries = entriesOf(await helpOf())
    expect(entries.map(([term]) => term)).toEqual(
      expect.arrayContaining([
        'admin [options]',
        'backup <file>',
        'restore <file>',
        '--password-link <name>',
      ]),
    )
    expect(entries.filter(([, description]) => !/^\w/.test(description))).toEqual([])
    expect(await helpOf()).toContain('Issues OAuth 2.0 access tokens')
  })

  it('describes every command for administrators, and its options', async () => {
    const admin = await helpOf('admin')
    expect(admin).toContain('Administers a running service.')
    expect(admin).toMatch(/^TOKENWELL_ADMIN_URL .*^TOKENWELL_ADMIN_TOKEN_FILE/ms)
    const commands = entriesOf(admin).filter(([term]) => !/^(-|help )/.test(term))
    expect(commands.map(([term]) => term)).toEqual(
      expect.arrayContaining(['applications', 'audit [options]']),
    )
    for (const [term, description] of commands) {
      expect(description).toMatch(/^\w/)
      const [name = ''] = term.split(' ')
      const options = entriesOf(await helpOf('admin', name)).filter(([option]) => option.startsWith('-'))
      expect(options.filter(([, about]) => !/^\w/.test(about))).toEqual([])
    }
  })

  it('groups the commands for administrators, and breaks its lines between words', async () => {
    const help = await helpOf('admin')
    const groups = help.match(/^\S.*:$/gm)
    expect(groups).toEqual(
      expect.arrayContaining(['Options:', 'Applications:', 'People:', 'Products and scopes:', 'Audit log:']),
    )
    const [, people = ''] = /^People:\n((?: .*\n)+)/m.exec(help) ?? []
    expect(people).toMatch(/^ {2}developers /m)
    expect(people).toMatch(/^ {2}invite /m)
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it.each([
    ['application', '', ', and the tokens that were obtained with it.'],
    ['resource server', '-of-resource-server', '.'],
  ])('names the kind of client that a command is for: %s', async (client, suffix, end) => {
    const admin = new Map(entriesOf(await helpOf('admin')))
    const about = (name: string) => [...admin].find(([term]) => term.startsWith(`${name}${suffix} `))?.[1]
    for (const name of ['rotate-secret', 'revoke-secret', 'add-key', 'rename-key', 'remove-key'])
      expect(about(name)).toMatch(new RegExp(` an? ${client}\\b`))
    expect(about('revoke-secret')).toMatch(new RegExp(`${client}${end.replace('.', '\\.')}$`))
    expect(about('remove-key')?.includes('tokens')).toBe(suffix === '')
  })

  it.each([
    ['set-product', 'replace its description', ['--description']],
    ['set-scope', 'replace its API and its description', ['--audience', '--description']],
  ])('says what %s does to details that are omitted', async (name, replaced, options) => {
    const admin = entriesOf(await helpOf('admin'))
    expect(admin.find(([term]) => term.startsWith(`${name} `))?.[1]).toContain(replaced)
    const own = entriesOf(await helpOf('admin', name))
    for (const option of options)
      expect(own.find(([term]) => term.startsWith(option))?.[1]).toContain('If it is omitted,')
  })
})

it('exits with 2 if it does not know an option or a command', async () => {
  expect(await outcomeOf('--unknown')).toEqual({
    printed:
      "tokenwell-service: Unknown option '--unknown'.\n→ `tokenwell-service --help` lists the options and commands.\n",
    exit: 'exit 2',
  })
  const command = await outcomeOf('admin', 'unknown')
  expect([command.exit, command.printed]).toEqual([
    'exit 2',
    expect.stringContaining("Unknown command 'unknown'"),
  ])
})
