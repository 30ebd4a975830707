import { TokenError } from '../protocol/token-error.ts'

const maxBytes = 1024 * 1024

/**
 * Reads a token endpoint's body as text, at most 1 MiB, counted as it arrives.
 *
 * @throws {TokenError} of kind `malformed` for a larger one
 */
export async function readBody(response: Response): Promise<string> {
  const reader = response.body?.getReader?.()
  if (reader === undefined) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {})
      throw new TokenError({
        kind: 'malformed',
        message: `The response is larger than 1 MiB (${response.status}). Check the URL of the token endpoint.`,
        status: response.status,
      })
    }
    text += decoder.decode(value, { stream: true })
  }
}
