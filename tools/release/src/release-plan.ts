/** One line of what `changeset publish-plan` lists: a version that the registry does not have. */
export interface PlannedPackage {
  readonly kind: string
  readonly name: string
  readonly version: string
  readonly tag: string
}

/** What a run of the release workflow finds for its commit. */
export interface ReleaseState {
  /** `main`, or `release/0.1` for fixes of an older minor version. */
  readonly branch: string
  /** What `changeset publish-plan` lists: packages that depend on nothing unpublished first. */
  readonly plan: readonly (readonly PlannedPackage[])[]
  /** Whether there are changesets that name a package. */
  readonly hasChangesets: boolean
  /** Packages that the registry has in no version. */
  readonly newPackages: readonly string[]
  /** Versions of this commit, `NAME@VERSION`, whose tag is at a commit that is not part of its history. */
  readonly foreignTags: readonly string[]
  /** The version that `latest` is at, or undefined before the first publication. */
  readonly latest: string | undefined
}

export interface ReleasePlan {
  /** What is published first. Empty if the registry has everything. */
  readonly publish: readonly (readonly PlannedPackage[])[]
  /** Whether "Version Packages" is opened or updated, once everything is published. */
  readonly version: boolean
}

/**
 * Decides what a run of the release workflow does. What was versioned is published before anything is versioned again, in
 * whichever run comes next: so a run that was cancelled or broke in the middle leaves nothing behind.
 *
 * @throws {Error} if publishing would drop a package silently, or give users of `latest` an older version
 */
export function planRelease(state: ReleaseState): ReleasePlan {
  const { branch, plan, hasChangesets, newPackages, foreignTags, latest } = state
  if (foreignTags.length > 0)
    throw new Error(
      `${foreignTags.join(', ')} was published from another branch. Give this branch a version that does not exist.`,
    )
  const line = /^release\/(\d+\.\d+)$/.exec(branch)?.[1]
  if (branch !== 'main' && line === undefined)
    throw new Error(`"${branch}" is neither main nor named like release/0.1.`)
  if (line !== undefined) {
    if (latest?.startsWith(`${line}.`))
      throw new Error(`${line} is the newest minor version: release its fixes from main.`)
    const other = plan.flat().find(({ version }) => !version.startsWith(`${line}.`))
    if (other !== undefined)
      throw new Error(`${branch} must not publish ${other.name}@${other.version}. Only patches belong there.`)
  }
  // npm accepts a trusted publisher only for a package that exists.
  const unknown = plan.flat().filter(({ name }) => newPackages.includes(name))
  if (unknown.length > 0)
    throw new Error(
      `${unknown.map(({ name }) => name).join(', ')} is not on the registry. Publish the first version by hand: see "Once, on npm" in RELEASING.md.`,
    )
  const publish =
    line === undefined ? plan : plan.map((each) => each.map((one) => ({ ...one, tag: `fix-${line}` })))
  return { publish, version: hasChangesets }
}
