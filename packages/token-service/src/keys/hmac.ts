import { hash } from 'node:crypto'

const blockBytes = 64
const usualBytes = 1024

/**
 * HMAC-SHA-256 (RFC 2104) out of one-shot hashes: for `createHmac` OpenSSL sets up a context each time, which costs
 * several times the hashing itself, and every token request needs one.
 */
export function createHmacFunction(key: Buffer): (text: string) => Buffer {
  const block = Buffer.alloc(blockBytes)
  block.set(key.length > blockBytes ? hash('sha256', key, 'buffer') : key)
  const innerPad = Buffer.from(block.map((byte) => byte ^ 0x36))
  const outerPad = Buffer.from(block.map((byte) => byte ^ 0x5c))
  const inner = Buffer.concat([innerPad, Buffer.alloc(usualBytes)])
  const outer = Buffer.concat([outerPad, Buffer.alloc(32)])

  function innerMessage(text: string): Buffer {
    const bytes = Buffer.byteLength(text)
    if (bytes > usualBytes) return Buffer.concat([innerPad, Buffer.from(text)])
    inner.write(text, blockBytes)
    return inner.subarray(0, blockBytes + bytes)
  }

  return (text) => {
    outer.write(hash('sha256', innerMessage(text), 'binary'), blockBytes, 'binary')
    // As text first: memory outside the heap, for 32 bytes, costs four times as much, and the collector's time later.
    return Buffer.from(hash('sha256', outer, 'binary'), 'binary')
  }
}
