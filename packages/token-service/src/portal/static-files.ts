import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsBrotli } from '../runtime/accepts-brotli.ts'
import { PortalError } from './portal-error.ts'
import type { Paths } from './paths.ts'

// The package contains its sources: `src` and `dist` both read the files in this folder.
const folder = '../../src/portal/assets/'
const styles = ['design', 'layout', 'components', 'tables', 'features', 'reference']

const files = {
  'portal.css': { parts: styles.map((name) => `${name}.css`), type: 'text/css; charset=utf-8' },
  'portal.js': { parts: ['portal.js'], type: 'text/javascript; charset=utf-8' },

  'start.js': { parts: ['start.js'], type: 'text/javascript; charset=utf-8' },
  'reference.js': { parts: ['reference.js'], type: 'text/javascript; charset=utf-8' },
  'sans.woff2': { parts: ['sans.woff2'], type: 'font/woff2' },
  'mono.woff2': { parts: ['mono.woff2'], type: 'font/woff2' },
  'icon.svg': { parts: ['icon.svg'], type: 'image/svg+xml' },
} as const

export type AssetName = keyof typeof files

interface Asset {
  readonly compressed: Buffer
  readonly type: string
  readonly version: string
}

const assets = new Map<string, Asset>()

function load(name: string): Asset | undefined {
  const known = assets.get(name)
  if (known || !Object.hasOwn(files, name)) return known
  const { parts, type } = files[name as AssetName]
  const contents = Buffer.concat(parts.map((part) => readFileSync(new URL(folder + part, import.meta.url))))
  const compressed = brotliCompressSync(contents)
  const asset = { compressed, type, version: hash('sha256', compressed).slice(0, 12) }
  assets.set(name, asset)
  return asset
}

/** A URL that changes with the content: browsers may cache it forever. */
export function assetUrl(paths: Paths, name: AssetName): string {
  return `${paths.asset(name)}?v=${load(name)?.version}`
}

export function sendStaticFile(name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asset = load(name)
  if (!asset) throw new PortalError('not_found')
  const { compressed, type } = asset
  const isCompressed = acceptsBrotli(request)
  if (isCompressed) void reply.header('content-encoding', 'br')
  return reply
    .headers({
      ...pageHeaders,
      vary: 'accept-encoding',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    .type(type)
    .send(isCompressed ? compressed : brotliDecompressSync(compressed))
}

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The style sheet contains small icons.
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

export const pageHeaders = {
  'content-security-policy': contentPolicy.join('; '),
  'x-content-type-options': 'nosniff',
  // Anybody who reads an invitation link can use it.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}
