import { json, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'

type Attributes = Readonly<Record<string, string | number | boolean>>

export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** IDs of the spans that it links to. */
  readonly links: readonly string[]
  /** Milliseconds since 1970. */
  readonly start: number
  readonly end: number
  readonly failed: boolean
  readonly attributes: Attributes
}

export interface ReceivedPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Attributes
  /** Of a counter or gauge; the sum of a histogram. */
  readonly value: number
  readonly count?: number
  readonly bounds?: readonly number[]
}

export interface OtlpReceiver extends ScriptedServer {
  spans(): ReceivedSpan[]
  /** Of the latest export. */
  points(): ReceivedPoint[]
  /** Everything that arrived, unchanged. */
  received(): string
}

/** Receives OTLP over HTTP in JSON, as a collector does. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = await startScriptedServer(() => json({}))
  const bodies = (path: string) =>
    server.requests.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body))
  return Object.assign(server, {
    spans: () =>
      bodies('/v1/traces')
        .flatMap(scopes('Spans'))
        .flatMap(({ spans }) => spans.map(readSpan)),
    points: () =>
      bodies('/v1/metrics')
        .slice(-1)
        .flatMap(scopes('Metrics'))
        .flatMap(({ metrics }) => metrics.flatMap(readPoints)),
    received: () => server.requests.map(({ body }) => body).join('\n'),
  })
}

/* oxlint-disable typescript/no-explicit-any -- what came over the wire */
function scopes(kind: 'Spans' | 'Metrics') {
  return (body: any): any[] => body[`resource${kind}`].flatMap((resource: any) => resource[`scope${kind}`])
}

function readSpan(span: any): ReceivedSpan {
  return {
    name: span.name,
    kind: span.kind,
    traceId: span.traceId,
    spanId: span.spanId,
    links: (span.links ?? []).map((link: any) => link.spanId),
    ...(span.parentSpanId && { parentSpanId: span.parentSpanId }),
    start: readTime(span.startTimeUnixNano),
    end: readTime(span.endTimeUnixNano),
    failed: span.status.code === 2,
    attributes: readAttributes(span.attributes),
  }
}

/** Nanoseconds since 1970 are too large to be divided precisely. */
function readTime(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1_000
}

function readPoints(metric: any): ReceivedPoint[] {
  const { dataPoints } = metric.histogram ?? metric.sum ?? metric.gauge
  return dataPoints.map((point: any) => ({
    metric: metric.name,
    unit: metric.unit,
    attributes: readAttributes(point.attributes),
    value: point.sum ?? point.asDouble ?? Number(point.asInt),
    ...(point.count !== undefined && { count: Number(point.count), bounds: point.explicitBounds }),
  }))
}

function readAttributes(attributes: any[]): Attributes {
  const valueOf = ({ stringValue, boolValue, intValue, doubleValue }: any) =>
    stringValue ?? boolValue ?? doubleValue ?? Number(intValue)
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}
