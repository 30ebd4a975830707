/** What a branch changes, as far as it concerns the next release. */
export interface Change {
  /** The published packages, as the branch leaves them. */
  readonly packages: readonly ChangedPackage[]
  /** The changesets that the branch adds. */
  readonly changesets: readonly Changeset[]
  /** Dependencies whose ranges the branch changes in the catalog of the workspace. */
  readonly catalog: readonly string[]
}

export interface ChangedPackage {
  readonly name: string
  readonly version: string
  /** The version before the branch, or undefined for a new package. */
  readonly versionBefore: string | undefined
  /** The first file that users get, and that the branch changes. */
  readonly changedFile: string | undefined
  /** What is installed or bundled with the package. */
  readonly dependencies: readonly string[]
}

export interface Changeset {
  readonly id: string
  readonly summary: string
  readonly releases: readonly { readonly name: string; readonly type: string }[]
}

/** Why a branch must not be merged: a change that no changelog names, or one that is announced as what it is not. */
export function changesetProblems({ packages, changesets, catalog }: Change): string[] {
  const problems = changesets.flatMap((changeset) => bumpProblems(changeset, packages))
  // "Version Packages" has taken the changesets out, and raised each version instead.
  if (packages.every(({ version, versionBefore }) => version !== versionBefore)) return problems
  // An empty changeset says that users notice nothing of the rest.
  if (changesets.some(({ releases }) => releases.length === 0)) return problems
  const named = new Set(changesets.flatMap(({ releases }) => releases.map(({ name }) => name)))
  for (const { name, changedFile, dependencies } of packages) {
    if (named.has(name)) continue
    const updated = dependencies.filter((dependency) => catalog.includes(dependency))
    const because = changedFile ?? (updated.length > 0 ? `the range of ${updated.join(', ')}` : undefined)
    if (because === undefined) continue
    problems.push(
      `${name} changes (${because}), and no changeset names it: run \`pnpm changeset\`, or \`pnpm changeset --empty\` if users notice nothing.`,
    )
  }
  return problems
}

/** Below 1.0, `minor` is what `major` is later: it says that users must change their code. */
function bumpProblems({ id, summary, releases }: Changeset, packages: readonly ChangedPackage[]): string[] {
  const file = `.changeset/${id}.md`
  return releases.flatMap(({ name, type }) => {
    const known = packages.find((one) => one.name === name)
    if (known === undefined) return [`${file} names ${name}, which is not a published package.`]
    if (!known.version.startsWith('0.')) return []
    if (type === 'major')
      return [`${file} is a major change of ${name}: 1.0 is released on purpose. Write minor.`]
    if (type === 'minor' && !/\bbreaking\b/i.test(summary))
      return [
        `${file} is a minor change of ${name}: below 1.0, a feature is a patch. If it breaks code, begin its text with "Breaking:".`,
      ]
    return []
  })
}
