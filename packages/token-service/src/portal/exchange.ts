import type { SafeHtml } from '@remix-run/html-template'
import type { RawParameters } from '../http/parameters.ts'
import type { Developer } from '../storage/developer-storage.ts'
import type { Paths } from './paths.ts'
import type { Visit } from './visit.ts'

/** What somebody asks of the portal. */
export interface Exchange {
  readonly params: Readonly<Record<string, string>>
  readonly form: RawParameters
  readonly address: string
  /** What the service is reached by, for links that are told to others. */
  readonly baseUrl: string
  readonly visit: Visit
  readonly paths: Paths
  readonly developer?: Developer | undefined
}

/** The same, by somebody who is logged in. */
export interface DeveloperExchange extends Exchange {
  readonly developer: Developer
}

/** What comes of it. */
export interface Answer {
  readonly page?: SafeHtml | undefined
  /** @default 200 */
  readonly status?: number | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly redirectTo?: string | undefined
  /** A session that begins. */
  readonly session?: Visit | undefined
  readonly ended?: boolean | undefined
}

export type Step = (exchange: Exchange) => Promise<Answer>
export type DeveloperStep = (exchange: DeveloperExchange) => Promise<Answer>
