import { fastify, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createBearerGuard } from './authorization/bearer-guard.ts'
import { introspectToken } from './authorization/introspect-token.ts'
import { createIntrospectionCache } from './authorization/introspection-cache.ts'
import { createDigitsEngine } from './digits/create-digits-engine.ts'
import { allowOrigins } from './http/allow-origins.ts'
import { sendAnswersBeforeClosing } from './http/send-answers-before-closing.ts'
import { handleErrors, logOwnError } from './http/error-handling.ts'
import { transcriptionEndpoints } from './http/transcription-endpoints.ts'
import { handleUnreadBodies } from './http/unread-body.ts'
import { createJobStore } from './jobs/job-store.ts'
import type { SpeechApiOptions } from './speech-api-options.ts'
import { removeLeftFiles } from './temporary-file.ts'

const MAX_UPLOAD = 25 * 1_048_576
const CACHE_ENTRIES = 1_000
const UPLOAD_TIMEOUT_MS = 300_000

/** Creates the speech-to-text API, not yet listening; throws if `authUrl` is not an address it may be used with. */
export function createSpeechApi(options: SpeechApiOptions): FastifyInstance {
  const { clientId, clientSecret, product = 'speech-to-text', maxUploadBytes = MAX_UPLOAD } = options
  const authUrl = checkedAuthUrl(options)
  const server = fastify({
    loggerInstance: createLogger(options),
    requestTimeout: UPLOAD_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    pluginTimeout: 0, // which would also bound how long a closing server waits for its answers
  })
  allowOrigins(server, options.allowedOrigins ?? [])
  handleErrors(server)
  handleUnreadBodies(server)

  const engine = options.engine ?? createDigitsEngine()
  if (!options.engine) server.addHook('onClose', () => engine.close())
  const jobs = createJobStore({
    engine,
    maxUnfinished: options.maxJobs,
    onEnd({ id, state, error }) {
      server.log.info({ job: id, state }, 'job ended')
      if (state === 'failed') logOwnError(server.log, error)
    },
  })
  server.addHook('onReady', removeLeftFiles)
  server.addHook('preClose', () => jobs.close())
  sendAnswersBeforeClosing(server)
  const introspect = createIntrospectionCache(
    (token) => introspectToken(token, { authUrl, clientId, clientSecret }),
    { lifetimeMs: options.introspectionCacheMs ?? 3_000, maxEntries: CACHE_ENTRIES, now: Date.now },
  )
  const guard = createBearerGuard({ introspect, product, now: Date.now })

  server.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok', engine: engine.name }))
  server.register(transcriptionEndpoints, {
    engine,
    jobs,
    guard,
    maxBytes: maxUploadBytes,
    longAudioSeconds: options.longAudioSeconds ?? 60,
  })
  return server
}

function checkedAuthUrl({ authUrl, allowInsecure = false }: SpeechApiOptions): URL {
  const url = URL.parse(String(authUrl))
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError(`authUrl must be an http or https address, not "${String(authUrl)}".`)
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol === 'http:' && !local && !allowInsecure) {
    throw new TypeError(`authUrl is plain HTTP to ${url.hostname}: use HTTPS, or set allowInsecure.`)
  }
  return url
}

function createLogger({ quiet = false, logTo }: SpeechApiOptions): FastifyBaseLogger {
  const settings = {
    level: quiet ? 'silent' : 'info',
    redact: { paths: ['req.headers.authorization', 'headers.authorization', 'authorization'], remove: true },
    serializers: {
      // Neither headers nor a query: a token may stand in either.
      req: ({ method, url }: { method: string; url: string }) => ({ method, path: url.split('?')[0] }),
    },
  }
  return logTo ? pino(settings, logTo) : pino(settings)
}
