import type * as NodeCrypto from 'node:crypto'

interface Runtime {
  readonly process?: { getBuiltinModule?: (name: 'node:crypto') => typeof NodeCrypto | undefined }
}

let nodeCrypto: typeof NodeCrypto | null | undefined

/** SHA-256 in base64url; synchronous where the runtime has `node:crypto`, because WebCrypto takes ten times as long. */
export function digest(data: string | Uint8Array): string | Promise<string> {
  nodeCrypto ??= (globalThis as Runtime).process?.getBuiltinModule?.('node:crypto') ?? null
  if (nodeCrypto?.hash) return nodeCrypto.hash('sha256', data, 'base64url')
  return webDigest(data)
}

async function webDigest(data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const hash = await crypto.subtle.digest('SHA-256', bytes as BufferSource)
  return btoa(String.fromCharCode(...new Uint8Array(hash)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
