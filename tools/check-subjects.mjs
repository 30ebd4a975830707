// Checks subjects of commits: `area: imperative, at most 72 characters`. Runs in each Node, because git runs it.
// - without arguments: of the commits that `origin/main` does not have
// - `BASE..HEAD`: of these commits
// - `--message FILE`: of the commit that is being written, as the hook `commit-msg`
// - `--install`: makes git run that hook in this clone
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const [command = 'origin/main..HEAD', file = ''] = process.argv.slice(2)
const git = (...args) => spawnSync('git', args, { encoding: 'utf8' })

if (command === '--install') {
  // Not a clone, or one that only installs: there is nothing to check.
  if (!process.env['CI']) git('config', 'core.hooksPath', 'tools/hooks')
} else {
  const subjects =
    command === '--message'
      ? [readFileSync(file, 'utf8').split('\n')[0]]
      : git('log', '--no-merges', '--format=%s', command, '--').stdout.split('\n').filter(Boolean)
  const problems = subjects.flatMap((subject) => {
    const problem = problemOf(subject)
    return problem === undefined ? [] : [`"${subject}" ${problem}`]
  })
  if (problems.length > 0) {
    process.stderr.write(
      `${problems.join('\n')}\nWrite, for example: core: read fetch arguments before the first await\n`,
    )
    process.exitCode = 1
  }
}

function problemOf(subject) {
  // Written by git, by the release workflow, and by Dependabot, which names packages and versions in full.
  if (/^(?:Revert "|Merge |fixup! |squash! |Version [Pp]ackages)/.test(subject)) return undefined
  if (/^(?:[\w()-]+: )?bump (?:\S+ from \S+ to \S+|the \S+ group\b)/i.test(subject)) return undefined
  if (subject.length > 72) return `has ${subject.length} characters, more than 72.`
  const [, first = '', second = ''] =
    /^[\w@./-]+(?:(?:,| and) [\w@./-]+)*: (\S+)(?: (\S+))?/.exec(subject) ?? []
  if (first === '') return 'does not begin with its area, without parentheses, and a colon.'
  if (subject.endsWith('.')) return 'ends with a full stop.'
  const isImperative =
    /^[a-z][a-z-]*$/.test(first) &&
    !/^(?:an?|the|this|that|its?|each|every|all|any|no|not|one|two|more|some|what|how|when|where|which)$/.test(
      first,
    ) &&
    !/(?:[^s]s|ed|[^br]ing)$/.test(
      first.replace(/^(?:alias|bias|focus|embed|feed|need|shed|speed|seed|string)$/, ''),
    ) &&
    !/^(?:is|are|was|were|has|have|can|may|must|does|do)$/.test(second)
  return isImperative ? undefined : `does not begin with an imperative, such as "add", after its area.`
}
