import type { SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import type { RawParameters } from '../../protocol/raw-parameters.ts'
import type { NoticeName } from '../components/notices.ts'
import type { Viewer } from '../components/page.ts'

export interface PortalRequest extends Viewer {
  readonly params: Readonly<Record<string, string>>
  readonly query: RawParameters
  readonly form: RawParameters
  readonly address: string
  /** The service's URL, for links that are sent to other people. */
  readonly baseUrl: string
  /** The hash of the browser's session ID, if it has one. */
  readonly sessionHash?: string | undefined
}

/** The request of a developer who is logged in. */
export interface DeveloperRequest extends PortalRequest {
  readonly developer: Developer
}

export interface PortalResponse {
  readonly page?: SafeHtml | undefined
  /** Whether the page contains a CSRF token, or anything else that nobody may guess. @default true */
  readonly hasSecrets?: boolean | undefined
  /** A file instead of a page. */
  readonly file?: { readonly name: string; readonly type: string; readonly text: string } | undefined
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly redirectTo?: string | undefined
  /** What the page after the redirect confirms. */
  readonly notice?: NoticeName | undefined
  /** The ID of a new session; `null` ends the session. */
  readonly sessionId?: string | null | undefined
}

export type Handler = (request: PortalRequest) => Promise<PortalResponse>
export type DeveloperHandler = (request: DeveloperRequest) => Promise<PortalResponse>
