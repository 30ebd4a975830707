// OpenTelemetry: the OTLP exporter asks for its headers before each export.
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { type AccessToken, clientCredentials, credentialsFrom } from '@tokenwell/core'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

let token: AccessToken

/** Exports once more with a new token if the collector rejects the first one. */
class TokenTraceExporter extends OTLPTraceExporter {
  override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
    super.export(spans, (result) => {
      if ((result.error as { code?: number } | undefined)?.code !== 401) return done(result)
      tokens.reject(token)
      super.export(spans, done)
    })
  }
}
const exporter = new TokenTraceExporter({
  url: `${API_URL}/v1/traces`,
  headers: async () => {
    token = await tokens.getToken()
    return { authorization: `Bearer ${token.value}` }
  },
})

// The SDK exports with tracing suppressed, in a context that the token request inherits: it makes no spans of its own.
context.setGlobalContextManager(new AsyncLocalStorageContextManager())
export const tracerProvider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
registerInstrumentations({ tracerProvider, instrumentations: [new UndiciInstrumentation()] })
