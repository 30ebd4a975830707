import { waitFor } from '../runtime/wait.ts'

const maxBytes = 16 * 1024
const maxMs = 1_000

/** The first 16 KiB of a response as text, read from a clone: the response itself stays unread. Waits at most a second. */
export async function readBodyStart(response: Response): Promise<string | undefined> {
  // Some libraries' responses have a body that is not a web stream.
  if (response.bodyUsed || typeof response.body?.getReader !== 'function') return undefined
  const reader = response.clone().body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const read = async (): Promise<void> => {
    let bytes = 0
    while (bytes < maxBytes) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  }
  // If the connection breaks or stalls, the caller finds out when it reads the response itself.
  await waitFor(read(), maxMs, undefined, () => undefined).catch(() => {})
  reader.cancel().catch(() => {})
  return text
}
