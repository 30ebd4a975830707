import { fastify, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { createGrammarEngine } from '../engines/grammar/create-grammar-engine.ts'
import { allowOrigins, finishResponses, handleErrors, logServerError } from '../http/handle-errors.ts'
import { handleUnreadBodies } from '../http/read-upload.ts'
import { transcriptionRoutes } from '../http/transcription-routes.ts'
import { createJobStore } from '../jobs/job-store.ts'
import { removeStaleFiles } from '../temporary-files/temporary-file.ts'
import type { SpeechApiOptions, StartSpeechApiOptions } from './speech-api-options.ts'

const MAX_UPLOAD = 25 * 1_048_576
const UPLOAD_TIMEOUT_MS = 300_000

/** Creates the speech-to-text API, which does not listen yet; throws if `authUrl` or an origin is invalid. */
export function createSpeechApi(options: SpeechApiOptions): FastifyInstance {
  const { authUrl, clientId, clientSecret, introspectionCacheMs = 3_000, allowInsecureRequests } = options
  const { slowUploads = {} } = options
  const { headersMs = 10_000 } = slowUploads
  const verifier = createTokenVerifier({
    introspection: { authUrl, clientId, clientSecret, cacheMs: introspectionCacheMs },
    realm: 'speech',
    errors: 'platform',
    allowInsecureRequests,
  })
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

  const engine = options.engine ?? createGrammarEngine()
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

  server.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok', engine: engine.name }))
  server.register(transcriptionRoutes, {
    engine,
    jobs,
    verifier,
    product: options.product ?? 'speech-to-text',
    maxBytes: options.maxUploadBytes ?? MAX_UPLOAD,
    slowUploads,
    longAudioSeconds: options.longAudioSeconds ?? 60,
  })
  return server
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

export interface RunningSpeechApi {
  readonly url: string
  /** Stops listening, completes pending responses, cancels jobs and closes the engine. */
  close(): Promise<void>
}

/**
 * Starts the speech-to-text API.
 *
 * @example
 * const api = await startSpeechApi({ authUrl, clientId: 'speech-api', clientSecret })
 * await fetch(`${api.url}/v1/transcriptions`, { method: 'POST', headers, body: wav })
 */
export async function startSpeechApi(options: StartSpeechApiOptions): Promise<RunningSpeechApi> {
  const server = createSpeechApi(options)
  try {
    const url = await server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' })
    return { url, close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}
