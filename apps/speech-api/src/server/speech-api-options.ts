import type { DestinationStream } from 'pino'
import type { SpeechEngine } from '../engines/speech-engine.ts'
import type { SlowUploadLimits } from '../http/limit-slow-upload.ts'

export interface SpeechApiOptions {
  /** The token service that introspects access tokens: HTTPS, or HTTP on this machine. */
  readonly authUrl: string | URL
  /** The credentials of this API as a resource server. */
  readonly clientId: string
  readonly clientSecret: string
  /** Allows plain HTTP to a token service on another machine.
   * @default false
   */
  readonly allowInsecureRequests?: boolean | undefined
  /** Recognises speech. An engine that you pass is not closed with the server.
   * @default the digits engine
   */
  readonly engine?: SpeechEngine | undefined
  /** The API product that an access token must cover.
   * @default 'speech-to-text'
   */
  readonly product?: string | undefined
  /** Origins of web pages that may call the API: `https://app.example`.
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Maximum length, in seconds, of a recording that is transcribed at once; longer ones become jobs, with status 202.
   * @default 60
   */
  readonly longAudioSeconds?: number | undefined
  /** Maximum number of active jobs of all clients. One client gets at most half of them.
   * @default 16
   */
  readonly maxJobs?: number | undefined
  /** @default 25 MiB */
  readonly maxUploadBytes?: number | undefined
  /** Limits that protect the server from slow clients. */
  readonly slowUploads?: SlowUploadLimits | undefined
  /** How long an introspection response is cached, in milliseconds.
   * @default 3_000
   */
  readonly introspectionCacheMs?: number | undefined
  /** Disables the log.
   * @default false
   */
  readonly quiet?: boolean | undefined
  /** Destination of the log.
   * @default standard output
   */
  readonly logTo?: DestinationStream | undefined
}
