/** Whether a request body can be sent a second time: a stream or an iterator is consumed by the first. For authors of adapters. */
export function isRepeatableBody(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, URLSearchParams, Blob, FormData].some((type) => body instanceof type)
  )
}

/** A copy of a body that its owner can change; other bodies are returned as they are. */
export function copyBody(body: BodyInit): BodyInit {
  if (typeof body === 'string' || body instanceof Blob) return body
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice() as Uint8Array<ArrayBuffer>
  }
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  if (!(body instanceof FormData)) return body
  const copy = new FormData()
  for (const [name, value] of body) copy.append(name, value)
  return copy
}

/** How long a body may take to be read ahead: one that is in memory takes no time. */
const readAheadMs = 20

/** The body of a `Request`, as far as it was kept. */
export interface KeptBody {
  /** The body of the first request: bytes if all of it was kept at once, otherwise a stream. */
  readonly first: BodyInit
  /** The body of a repeated request; undefined if it was not kept. */
  repeated(): BodyInit | undefined
}

/**
 * Keeps the body of a `Request`, at most `maxBytes`, for sending it again. A body that arrives slowly is
 * streamed and kept on the way.
 */
export async function keepBody(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<KeptBody> {
  const reader = body.getReader()
  let chunks: Uint8Array<ArrayBuffer>[] | undefined = []
  let bytes = 0
  let complete = false

  async function readChunk(): Promise<Uint8Array | undefined> {
    const { done, value } = await reader.read()
    if (done) {
      complete = true
      return undefined
    }
    bytes += value.byteLength
    if (bytes > maxBytes) chunks = undefined
    else chunks?.push(value.slice())
    return value
  }

  const repeated = (): BodyInit | undefined => (complete && chunks ? new Blob(chunks) : undefined)
  const ahead: Uint8Array[] = []
  let reading: Promise<Uint8Array | undefined> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeUp = new Promise<'late'>((resolve) => (timer = setTimeout(resolve, readAheadMs, 'late')))
  try {
    for (;;) {
      reading = readChunk()
      const chunk = await Promise.race([reading, timeUp])
      if (chunk === undefined) return { first: await joined(chunks!), repeated }
      if (chunk === 'late') break
      reading = undefined
      ahead.push(chunk)
      if (chunks === undefined) break
    }
  } finally {
    clearTimeout(timer)
  }
  const first = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = ahead.shift() ?? (await (reading ?? readChunk()))
      if (ahead.length === 0 && chunk !== undefined) reading = undefined
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { first, repeated }
}

function joined(chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<ArrayBuffer> {
  return new Blob([...chunks]).arrayBuffer()
}
