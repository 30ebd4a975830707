import type { DestinationStream } from 'pino'
import type { SpeechEngine } from './speech-engine.ts'

export interface SpeechApiOptions {
  /** The token service that access tokens are checked with: HTTPS, unless it is on this machine. */
  readonly authUrl: string | URL
  /** This API's own credentials as a resource server. */
  readonly clientId: string
  readonly clientSecret: string
  /** Whether `authUrl` may be plain HTTP to another machine.
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /** What recognises; the caller's own is not closed with the server.
   * @default the digits engine
   */
  readonly engine?: SpeechEngine | undefined
  /** The API product an access token must cover.
   * @default 'speech-to-text'
   */
  readonly product?: string | undefined
  /** Origins of web pages that may call the API from a browser: `https://app.example`.
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Recordings that are longer are answered as a job, with 202; in seconds.
   * @default 60
   */
  readonly longAudioSeconds?: number | undefined
  /** Jobs under way at a time, of all clients; no client can take more than half of them.
   * @default 16
   */
  readonly maxJobs?: number | undefined
  /** @default 25 MiB */
  readonly maxUploadBytes?: number | undefined
  /** How long the answer about a token may be used again, in milliseconds.
   * @default 3_000
   */
  readonly introspectionCacheMs?: number | undefined
  /** Writes no log.
   * @default false
   */
  readonly quiet?: boolean | undefined
  /** Where the log goes.
   * @default standard output
   */
  readonly logTo?: DestinationStream | undefined
}
