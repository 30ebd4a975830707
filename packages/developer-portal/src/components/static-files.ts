import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { Paths } from '../request/routes.ts'
import { PortalError } from '../request/portal-error.ts'
import { pageHeaders } from './send-page.ts'

// The package contains its sources: `src` and `dist` both read the files there.
const folder = new URL('../../src/assets/', import.meta.url)

const types = {
  'portal.css': 'text/css; charset=utf-8',
  'copy.js': 'text/javascript; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const

export type AssetName = keyof typeof types

const assets = new Map<string, { text: string; type: string; version: string }>(
  Object.entries(types).map(([name, type]) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    return [name, { text, type, version: hash('sha256', text).slice(0, 12) }]
  }),
)

/** A URL that changes with the content: browsers may cache it forever. */
export function assetUrl(paths: Paths, name: AssetName): string {
  return `${paths.asset(name)}?v=${assets.get(name)?.version}`
}

export function sendStaticFile(name: string, reply: FastifyReply): FastifyReply {
  const asset = assets.get(name)
  if (!asset) throw new PortalError('not_found')
  return reply
    .headers({ ...pageHeaders, 'cache-control': 'public, max-age=31536000, immutable' })
    .type(asset.type)
    .send(asset.text)
}
