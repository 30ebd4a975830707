import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsBrotli } from '../runtime/accepts-brotli.ts'
import type { RenderingQueue } from './rendering-queue.ts'

const maxKept = 8

interface Rendering {
  readonly plain: Buffer
  /** Compressed when the first client accepts it. */
  compressed?: Promise<Buffer> | undefined
  readonly etag: string
}

/** Sends a document that depends on the base URL alone. */
export type SendShared = (
  request: FastifyRequest,
  reply: FastifyReply,
  document: {
    readonly baseUrl: string
    readonly type: string
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly render: () => Promise<string> | string
  },
) => Promise<FastifyReply>

/**
 * Renders a document once for each base URL, of which it keeps the last eight: clients choose it, within limits. All responses
 * share one buffer, so that clients who do not read them cost little memory.
 */
export function createSharedRenderings(queue: RenderingQueue): SendShared {
  const kept = new Map<string, Promise<Rendering>>()

  function renderingFor(baseUrl: string, render: () => Promise<string> | string): Promise<Rendering> {
    const known = kept.get(baseUrl)
    const rendering = known ?? queue.turn().then(render).then(toRendering)
    kept.delete(baseUrl)
    kept.set(baseUrl, rendering)
    if (known) return known
    rendering.catch(() => kept.delete(baseUrl))
    const [oldest] = kept.keys()
    if (kept.size > maxKept) kept.delete(oldest!)
    return rendering
  }

  return async (request, reply, { baseUrl, type, headers = {}, render }) => {
    const rendering = await renderingFor(baseUrl, render)
    const isCompressed = acceptsBrotli(request)
    const etag = isCompressed ? `"${rendering.etag}-br"` : `"${rendering.etag}"`
    void reply
      .headers({ ...headers, etag, vary: 'accept-encoding, cookie', 'cache-control': 'no-cache' })
      .removeHeader('pragma')
    if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(etag)) return reply.code(304).send()
    void reply.type(type)
    if (!isCompressed) return reply.send(rendering.plain)
    rendering.compressed ??= compress(rendering.plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    return reply.header('content-encoding', 'br').send(await rendering.compressed)
  }
}

const compress = promisify(brotliCompress)

function toRendering(text: string): Rendering {
  return { plain: Buffer.from(text), etag: hash('sha256', text, 'base64url').slice(0, 16) }
}
