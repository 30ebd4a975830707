import type { SafeHtml } from '@remix-run/html-template'
import type { Developer, RawParameters } from '@tokenwell/token-service/plugin'
import type { Paths } from './routes.ts'

export interface PortalRequest {
  readonly params: Readonly<Record<string, string>>
  readonly form: RawParameters
  readonly address: string
  /** The service's URL, for links that are sent to other people. */
  readonly baseUrl: string
  /** What every form of this browser must contain. */
  readonly csrfToken: string
  /** The hash of the browser's session ID, if it has one. */
  readonly sessionHash?: string | undefined
  readonly paths: Paths
  readonly developer?: Developer | undefined
}

/** The request of a developer who is logged in. */
export interface DeveloperRequest extends PortalRequest {
  readonly developer: Developer
}

export interface PortalResponse {
  readonly page?: SafeHtml | undefined
  /** @default 200 */
  readonly status?: number | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly redirectTo?: string | undefined
  /** The ID of a new session; `null` ends the session. */
  readonly sessionId?: string | null | undefined
}

export type Handler = (request: PortalRequest) => Promise<PortalResponse>
export type DeveloperHandler = (request: DeveloperRequest) => Promise<PortalResponse>
