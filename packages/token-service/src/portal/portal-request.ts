import type { Developer } from '../features/people/storage.ts'
import type { RawParameters } from '../oauth/parameters.ts'
import type { NoticeName } from './layout/notices.ts'
import type { PageContent, Viewer } from './layout/page.ts'

export interface PortalRequest extends Viewer {
  readonly method: string
  readonly params: Readonly<Record<string, string>>
  readonly query: RawParameters
  readonly form: RawParameters
  readonly address: string
  readonly userAgent: string
  /** The service's URL, for links that are sent to other people. */
  readonly baseUrl: string
  /** What shows that this device has logged in before. */
  readonly device?: string | undefined
  /** The log-in at the OpenID provider that this browser has begun, encrypted. */
  readonly pendingLogIn?: string | undefined
  /** The hash of the browser's session ID, if it has one. */
  readonly sessionHash?: string | undefined
}

/** The request of a developer who is logged in. */
export interface DeveloperRequest extends PortalRequest {
  readonly developer: Developer
}

/** A page, a file, JSON for a script of the portal, or a redirect, never nothing. */
export type PortalResponse = ResponseDetails &
  (Content<'page'> | Content<'file'> | Content<'json'> | Content<'redirectTo'>)

interface Contents {
  readonly page: PageContent
  readonly file: PortalFile
  readonly json: object
  readonly redirectTo: string
}

type Content<Kind extends keyof Contents> = Pick<Contents, Kind> & {
  readonly [Other in Exclude<keyof Contents, Kind>]?: undefined
}

interface PortalFile {
  readonly name: string
  readonly type: string
  readonly text: string
}

interface ResponseDetails {
  /** Whether the page contains a CSRF token, or anything else that nobody may guess. @default true */
  readonly hasSecrets?: boolean | undefined
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly retryAfterSeconds?: number | undefined
  /** What the page after the redirect confirms. */
  readonly notice?: NoticeName | undefined
  /** The ID of a new session; `null` ends the session. */
  readonly sessionId?: string | null | undefined
  /** The log-in at the OpenID provider that begins, encrypted; `null`: it is over. */
  readonly pendingLogIn?: string | null | undefined
  /** What shows later that this device has logged in. */
  readonly device?: string | undefined
}
