const mostBytes = 16 * 1024

/** The first 16 KiB of a response as text, read from a clone: the response itself stays whole. */
export async function readStart(response: Response): Promise<string | undefined> {
  if (response.body === null || response.bodyUsed) return undefined
  const reader = response.clone().body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    while (bytes < mostBytes) {
      const { done, value } = await reader.read()
      if (done) break
      bytes += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
    return text
  } catch {
    // The connection broke: the caller meets that when reading the response itself.
    return text
  } finally {
    reader.cancel().catch(() => {})
  }
}
