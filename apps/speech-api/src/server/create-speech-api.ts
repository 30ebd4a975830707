import { fastify, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createBearerGuard } from '../http/bearer-guard.ts'
import { introspectToken } from '../authorization/introspect-token.ts'
import { createIntrospectionCache } from '../authorization/introspection-cache.ts'
import { createDigitsEngine } from '../engines/digits/create-digits-engine.ts'
import { allowOrigins } from '../http/allow-origins.ts'
import { finishResponses } from '../http/finish-responses.ts'
import { handleErrors, logServerError } from '../http/handle-errors.ts'
import { transcriptionRoutes } from '../http/transcription-routes.ts'
import { handleUnreadBodies } from '../http/unread-body.ts'
import { createJobStore } from '../jobs/job-store.ts'
import type { SpeechApiOptions } from './speech-api-options.ts'
import { removeStaleFiles } from '../temporary-files/temporary-file.ts'

const MAX_UPLOAD = 25 * 1_048_576
const CACHE_ENTRIES = 1_000
const UPLOAD_TIMEOUT_MS = 300_000

/** Creates the speech-to-text API, which does not listen yet; throws `TypeError` if `authUrl` or an origin is invalid. */
export function createSpeechApi(options: SpeechApiOptions): FastifyInstance {
  const { clientId, clientSecret, product = 'speech-to-text', maxUploadBytes = MAX_UPLOAD } = options
  const { slowUploads = {} } = options
  const { headersMs = 10_000 } = slowUploads
  const authUrl = checkedAuthUrl(options)
  const server = fastify({
    loggerInstance: createLogger(options),
    requestTimeout: UPLOAD_TIMEOUT_MS,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.min(5_000, headersMs) },
    forceCloseConnections: 'idle',
    pluginTimeout: 0, // it would also limit how long a closing server waits for pending responses
  })
  allowOrigins(server, options.allowedOrigins ?? [])
  handleErrors(server)
  handleUnreadBodies(server)

  const engine = options.engine ?? createDigitsEngine()
  if (!options.engine) server.addHook('onClose', () => engine.close())
  const jobs = createJobStore({
    engine,
    maxActive: options.maxJobs,
    onFinished({ id, state, error }) {
      server.log.info({ job: id, state }, 'job finished')
      if (state === 'failed') logServerError(server.log, error)
    },
  })
  server.addHook('onReady', removeStaleFiles)
  server.addHook('preClose', () => jobs.close())
  finishResponses(server)
  const introspect = createIntrospectionCache(
    (token) => introspectToken(token, { authUrl, clientId, clientSecret }),
    { lifetimeMs: options.introspectionCacheMs ?? 3_000, maxEntries: CACHE_ENTRIES, now: Date.now },
  )
  const guard = createBearerGuard({ introspect, product, now: Date.now })

  server.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok', engine: engine.name }))
  server.register(transcriptionRoutes, {
    engine,
    jobs,
    guard,
    maxBytes: maxUploadBytes,
    slowUploads,
    longAudioSeconds: options.longAudioSeconds ?? 60,
  })
  return server
}

function checkedAuthUrl({ authUrl, allowInsecure = false }: SpeechApiOptions): URL {
  const url = URL.parse(String(authUrl))
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError(`authUrl "${String(authUrl)}" is not a valid HTTP or HTTPS URL.`)
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol === 'http:' && !local && !allowInsecure) {
    throw new TypeError(`authUrl uses plain HTTP to ${url.hostname}. Use HTTPS, or set allowInsecure.`)
  }
  return url
}

function createLogger({ quiet = false, logTo }: SpeechApiOptions): FastifyBaseLogger {
  const settings = {
    level: quiet ? 'silent' : 'info',
    redact: { paths: ['req.headers.authorization', 'headers.authorization', 'authorization'], remove: true },
    serializers: {
      // Without headers and query: both may contain a token.
      req: ({ method, url }: { method: string; url: string }) => ({ method, path: url.split('?')[0] }),
    },
  }
  return logTo ? pino(settings, logTo) : pino(settings)
}
