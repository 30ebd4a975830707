import cors from '@fastify/cors'
import { fastify, type FastifyInstance } from 'fastify'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { createGrammarEngine } from '../engines/grammar/create-grammar-engine.ts'
import type { SpeechEngine } from '../engines/speech-engine.ts'
import { handleErrors } from './handle-errors.ts'
import { createJobs } from './jobs.ts'
import { openApi } from './openapi.ts'
import { createRecordingsFolder } from './recordings-folder.ts'
import { formSchema } from './schemas.ts'
import { transcriptionRoutes } from './transcription-routes.ts'

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
  /** Recognises speech. It is closed with the server.
   * @default the grammar engine
   */
  readonly engine?: SpeechEngine | undefined
  /** Origins of web pages that may call the API: `https://app.example`.
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Maximum duration of a recording whose response waits for the transcript; that to a longer one has the status 202.
   * @default 60
   */
  readonly longAudioSeconds?: number | undefined
  /** How long a transcript can be requested again, in milliseconds.
   * @default 600_000
   */
  readonly retentionMs?: number | undefined
  /** How long an introspection response is cached, in milliseconds.
   * @default 3_000
   */
  readonly introspectionCacheMs?: number | undefined
  /** Disables the log.
   * @default false
   */
  readonly quiet?: boolean | undefined
  /** @default 0, a free port */
  readonly port?: number | undefined
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
}

export interface RunningSpeechApi {
  readonly url: string
  /** Stops listening, cancels what is being transcribed, and closes the engine. */
  close(): Promise<void>
}

/**
 * Starts the speech-to-text API.
 *
 * @example
 * const api = await startSpeechApi({ authUrl, clientId: 'speech-api', clientSecret })
 * await fetch(`${api.url}/v1/transcriptions`, { method: 'POST', headers, body: form })
 */
export async function startSpeechApi(options: SpeechApiOptions): Promise<RunningSpeechApi> {
  const { host = '127.0.0.1', port = 0 } = options
  const server = createServer(options, port)
  try {
    const url = await server.listen({ port, host })
    return { url, close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}

function createServer(options: SpeechApiOptions, port: number): FastifyInstance {
  const { authUrl, clientId, clientSecret, introspectionCacheMs = 3_000, allowInsecureRequests } = options
  const verifier = createTokenVerifier({
    introspection: { authUrl, clientId, clientSecret, cacheMs: introspectionCacheMs },
    realm: 'speech',
    errors: 'platform',
    allowInsecureRequests,
  })
  const engine = options.engine ?? createGrammarEngine()
  const folder = createRecordingsFolder(port)
  const server = fastify({
    // Without headers and query: both may contain a token.
    logger: options.quiet
      ? false
      : { serializers: { req: ({ method, url }) => ({ method, url: url.replace(/\?.*/, '') }) } },
    requestTimeout: 300_000,
  })
  const jobs = createJobs({
    engine,
    retentionMs: options.retentionMs ?? 600_000,
    onFailed: (err) => server.log.info({ err }, 'not transcribed'),
  })
  server.addHook('onListen', () => folder.removeOthers())
  server.addHook('preClose', () => jobs.close())
  server.addHook('onClose', () => Promise.all([engine.close(), folder.remove()]).then(() => undefined))
  allowOrigins(server, options.allowedOrigins ?? [])
  handleErrors(server)

  const form = formSchema(engine)
  server.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok', engine: engine.name }))
  server.get('/openapi.json', async ({ protocol, host }) =>
    openApi({ serverUrl: `${protocol}://${host}`, authUrl, form }),
  )
  server.register(transcriptionRoutes, {
    engine,
    jobs,
    verifier,
    folder,
    longAudioSeconds: options.longAudioSeconds ?? 60,
  })
  return server
}

/**
 * Allows pages of these origins to call the API (CORS) and to read the headers of its responses.
 *
 * @throws {TypeError} if one of them is not an origin
 */
function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  for (const origin of origins) {
    if (URL.parse(origin)?.origin === origin) continue
    throw new TypeError(
      `"${origin}" is not a valid origin. Set only scheme, host and port, such as https://app.example.com.`,
    )
  }
  if (origins.length === 0) return
  server.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type'],
    exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'Location'],
    maxAge: 600,
  })
}
