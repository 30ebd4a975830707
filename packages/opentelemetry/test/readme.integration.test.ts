import { metrics, trace } from '@opentelemetry/api'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { expect, it, onTestFinished } from 'vitest'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()

it('runs the example in the README', async () => {
  trace.setGlobalTracerProvider(telemetry.tracerProvider)
  metrics.setGlobalMeterProvider(telemetry.meterProvider)
  onTestFinished(() => {
    trace.disable()
    metrics.disable()
  })
  const { tokens } = await runReadmeExample(new URL('../', import.meta.url), {
    AUTH_URL: servers.endpoint.origin,
    CLIENT_ID: 'a-client',
    CLIENT_SECRET: 'a-secret',
  })
  onTestFinished(() => (tokens as typeof servers.tokens).close())
  await telemetry.flush()
  expect(telemetry.receiver.spans()).toMatchObject([{ name: 'token request' }])
  const names = telemetry.receiver.points().map(({ metric }) => metric)
  expect(names).toContain('tokenwell.token.remaining_lifetime')
})
