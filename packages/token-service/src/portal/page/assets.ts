import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { Paths } from '../paths.ts'
import { PortalRefusal } from '../portal-refusal.ts'
import { pageHeaders } from './send-page.ts'

// The package ships its sources: both `src` and `dist` find these there.
const folder = new URL('../../../src/portal/assets/', import.meta.url)

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

/** An address that changes with what is there, so that browsers may keep it for good. */
export function assetUrl(paths: Paths, name: AssetName): string {
  return `${paths.asset(name)}?v=${assets.get(name)?.version}`
}

export function sendAsset(name: string, reply: FastifyReply): FastifyReply {
  const asset = assets.get(name)
  if (!asset) throw new PortalRefusal('not_found')
  return reply
    .headers({ ...pageHeaders, 'cache-control': 'public, max-age=31536000, immutable' })
    .type(asset.type)
    .send(asset.text)
}
