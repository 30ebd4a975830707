import { waitFor } from '../runtime/wait.ts'

/** Like `BodyInit`, which only the DOM library declares: Node programs may compile without it. */
type RequestBody = NonNullable<RequestInit['body']>

/**
 * Whether a request body can be sent a second time: the first attempt consumes a stream or an iterator. For authors
 * of adapters.
 */
export function isRepeatableBody(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, URLSearchParams, Blob, FormData].some((type) => body instanceof type)
  )
}

/** A copy of a body that its owner can change; other bodies are returned as they are. For authors of adapters. */
export function copyBody(body: RequestBody): RequestBody {
  if (typeof body === 'string') return body
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  }
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  if (!(body instanceof FormData)) return body
  const copy = new FormData()
  for (const [name, value] of body) copy.append(name, value)
  return copy
}

/** The body of a `Request`, as far as it has been kept. */
export interface KeptBody {
  /** Resolves when the body has been read, or cannot be kept. */
  readonly settled: Promise<void>
  /** The body for a repeated request; undefined if it is not complete or has more than so many bytes. */
  repeated(maxBytes: number): RequestBody | undefined
}

const mebibyte = 1024 * 1024
/** Up to this size, the body of a `Request` is sent again with a new token. */
export const maxRepeatedBytes = mebibyte
/** Up to this size, the body of a `Request` is sent again to where the API redirects it. */
export const maxRedirectedBytes = 16 * mebibyte

/**
 * Keeps the body of a `Request`, at most 16 MiB, for sending it again. It reads a clone: the request itself is
 * sent as it is, because browsers send a stream only over HTTP/2.
 */
export function keepBody(request: Request): KeptBody {
  let chunks: Uint8Array<ArrayBuffer>[] | undefined = []
  let bytes = 0
  let complete = false
  const reader = request.clone().body!.getReader()

  async function read(): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return void (complete = true)
      bytes += value.byteLength
      if (bytes > maxRedirectedBytes) {
        chunks = undefined
        // Settles only once the request has been sent as well.
        void reader.cancel().catch(() => {})
        return
      }
      chunks!.push(value.slice())
    }
  }
  // A body that cannot be read is not sent again; sending it the first time reports the error.
  const settled = read().catch(() => void (chunks = undefined))
  return {
    settled,
    repeated: (maxBytes) => (complete && chunks && bytes <= maxBytes ? joined(chunks, bytes) : undefined),
  }
}

/** Not a Blob: jsdom replaces the class by its own, which the fetch of Node sends as text. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.byteLength
  }
  return all
}

const maxStartBytes = 16 * 1024
const maxStartMs = 1_000

/** The first 16 KiB of a response as text, read from a clone: the response itself stays unread. Waits at most a second. */
export async function readBodyStart(response: Response): Promise<string | undefined> {
  // Some libraries' responses have a body that is not a web stream.
  if (response.bodyUsed || typeof response.body?.getReader !== 'function') return undefined
  const reader = response.clone().body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const read = async (): Promise<void> => {
    let bytes = 0
    while (bytes < maxStartBytes) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  }
  // If the connection breaks or stalls, the caller finds out when it reads the response itself.
  await waitFor(read(), maxStartMs, undefined, () => undefined).catch(() => {})
  reader.cancel().catch(() => {})
  return text
}

/** Frees the connection of a response that nobody reads. */
export function discardBody(response: Response): void {
  // The body of node-fetch is a stream of Node.
  const body = response.body as { cancel?(): Promise<void>; destroy?(): void } | null
  if (body?.cancel) void body.cancel().catch(() => {})
  else body?.destroy?.()
}
