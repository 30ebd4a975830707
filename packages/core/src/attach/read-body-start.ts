import { waitFor } from '../platform/timers.ts'

const mostBytes = 16 * 1024
const mostMs = 1_000

/** The first 16 KiB of a response as text, read from a clone: the response itself stays whole. Waits a second at the most. */
export async function readStart(response: Response): Promise<string | undefined> {
  if (response.body === null || response.bodyUsed) return undefined
  const reader = response.clone().body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const read = async (): Promise<void> => {
    let bytes = 0
    while (bytes < mostBytes) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  }
  // A connection that breaks or stops is met by the caller when reading the response itself.
  await waitFor(read(), mostMs, undefined, () => undefined).catch(() => {})
  reader.cancel().catch(() => {})
  return text
}
