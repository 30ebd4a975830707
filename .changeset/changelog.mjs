// Links each change to its commit, its pull request and its author: on GitHub by @changesets/changelog-github, elsewhere
// (a rehearsal, a release by hand) by what git knows.
import { execFileSync } from 'node:child_process'

const onGithub = async () => (await import('@changesets/changelog-github')).default

export async function getReleaseLine(changeset, type, options) {
  if (process.env.GITHUB_TOKEN) return (await onGithub()).getReleaseLine(changeset, type, options)
  const [first, ...rest] = changeset.summary.split('\n').map((line) => line.trimEnd())
  const indented = rest.map((line) => (line ? `  ${line}` : ''))
  return [`- ${origin(changeset.commit, options)}${first}`, ...indented].join('\n')
}

export async function getDependencyReleaseLine(changesets, dependencies, options) {
  if (dependencies.length === 0) return ''
  if (process.env.GITHUB_TOKEN)
    return (await onGithub()).getDependencyReleaseLine(changesets, dependencies, options)
  const list = dependencies.map(({ name, newVersion }) => `  - ${name}@${newVersion}`)
  return ['- Updated dependencies:', ...list].join('\n')
}

/** The pull request that the subject names, as GitHub adds it to a squashed commit; the commit; the author. */
function origin(commit, { repo }) {
  if (commit === undefined) return ''
  const url = `https://github.com/${repo}`
  const [subject, author] = execFileSync('git', ['log', '-1', '--format=%s%n%an', commit], {
    encoding: 'utf8',
  }).split('\n')
  const pull = /\(#(\d+)\)$/.exec(subject)?.[1]
  const links = [
    ...(pull ? [`[#${pull}](${url}/pull/${pull})`] : []),
    `[\`${commit.slice(0, 7)}\`](${url}/commit/${commit})`,
  ]
  return `${links.join(' ')} by ${author}: `
}
