import type { Project, RegisteredClient } from './application.ts'
import type { Developer } from './developer-storage.ts'
import type { TokenRequestOutcome, UsageEntry } from './activity-storage.ts'

/**
 * `changes`: approved, and changes are requested; `expiring`: a secret expires within 30 days; `unused`: approved, and not
 * used for 90 days; `awaiting`: an administrator has to decide. Deleted ones are listed only by `deleted`.
 */
export type ListedStatus = (typeof listedStatuses)[number]

export const listedStatuses = [
  'approved',
  'pending',
  'changes',
  'revoked',
  'expiring',
  'unused',
  'awaiting',
  'deleted',
] as const

/** By name, by the last token, or by creation; `-`: from the other end, such as the latest first. */
export const listOrders = ['name', '-name', 'used', '-used', 'created', '-created'] as const
export type ListOrder = (typeof listOrders)[number]

export interface ListFilter {
  /** Only what belongs to this developer. */
  readonly ownerId?: string | undefined
  /** Words that each are a part of a name, in any case and without accents, or the start of a client ID. */
  readonly search?: string | undefined
  /** @default 'name' */
  readonly order?: ListOrder | undefined
  readonly limit: number
  readonly offset: number
}

export interface ApplicationFilter extends ListFilter {
  readonly projectId?: string | undefined
  readonly status?: ListedStatus | undefined
  /** For what expires, or is unused. @default 0 */
  readonly nowMs?: number | undefined
}

export interface PeopleFilter extends Omit<ListFilter, 'ownerId'> {
  readonly administrator?: boolean | undefined
}

export interface ExpiryFilter extends Omit<ListFilter, 'search' | 'order'> {
  /** Only secrets that were used at this time or later. */
  readonly usedSinceMs?: number | undefined
}

/** A part of a list, and the length of the whole. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

export interface ListedProject {
  readonly project: Project
  /** How many applications it has. */
  readonly applications: number
}

/** An application in a list of something else. */
export interface ApplicationName {
  readonly id: string
  readonly projectId: string
  readonly name: string
}

/** A secret of an application or of a resource server. */
export interface ExpiringSecret {
  readonly id: string
  /** A resource server has no project. */
  readonly owner: {
    readonly id: string
    readonly projectId?: string | undefined
    readonly clientId: string
    readonly name: string
  }
  readonly prefix: string
  readonly expiresAtMs: number
  readonly lastUsedAtMs?: number | undefined
}

export interface FailureTotal {
  readonly application: ApplicationName
  readonly outcome: TokenRequestOutcome
  readonly requests: number
}

/** Token requests of all applications in one hour. */
export type UsageTotal = Omit<UsageEntry, 'clientId'>

/** What the portal lists, in pages: no query reads or returns everything that is stored. */
export interface ListingStorage {
  /** Names, projects, products, owners and client IDs are searched. */
  applications(filter: ApplicationFilter): Promise<ListPage<RegisteredClient>>
  /** How many applications of each status match the rest of the filter. */
  applicationCounts(
    filter: Omit<ApplicationFilter, 'status' | 'limit' | 'offset' | 'order'>,
  ): Promise<Readonly<Record<ListedStatus | 'all', number>>>
  /** With those that can still be restored. */
  projects(filter: ListFilter): Promise<ListPage<ListedProject>>
  people(filter: PeopleFilter): Promise<ListPage<Developer>>
  /** How many applications have each product or scope, by its name; deleted ones do not count. */
  catalogueUses(kind: 'products' | 'scopes'): Promise<ReadonlyMap<string, number>>
  /** The names of the projects that each developer owns, by developer. */
  projectNames(developerIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** The names of the owners, by project. */
  owners(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** How many applications an administrator has to decide on. */
  awaitingCount(): Promise<number>
  /** Whether an application of the developer, or of anybody, has ever got a token. */
  hasToken(ownerId?: string): Promise<boolean>
  /** The usage of these clients, by hour and outcome. */
  usageOf(clientIds: readonly string[], sinceMs: number): Promise<readonly UsageEntry[]>
  /** The usage of all applications of the developer, or of all. */
  usageTotals(sinceMs: number, ownerId?: string): Promise<readonly UsageTotal[]>
  /** The most frequent first. */
  topFailures(sinceMs: number, limit: number, ownerId?: string): Promise<readonly FailureTotal[]>
  /** The first to expire first. With `ownerId`, of the developer's applications alone. Without those of deleted applications and projects. */
  expiringSecrets(
    between: readonly [fromMs: number, untilMs: number],
    filter: ExpiryFilter,
  ): Promise<ListPage<ExpiringSecret>>
}
