import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { PackedPackage } from './packed-package.ts'

export async function checkWithPublint({ tarball, manifest }: PackedPackage): Promise<string[]> {
  const { messages } = await publint({ strict: true, pack: { tarball: tarball.buffer } })
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code)
}
