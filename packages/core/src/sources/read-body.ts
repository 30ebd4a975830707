import { TokenError } from '../protocol/token-error.ts'

const maxBytes = 1024 * 1024

/**
 * Reads a token endpoint's body as text, 1 MiB at most, counted while it arrives.
 *
 * @throws {TokenError} of kind `malformed` past that
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
        message: `The token endpoint sent more than 1 MiB (status ${response.status}); is its address right?`,
        status: response.status,
      })
    }
    text += decoder.decode(value, { stream: true })
  }
}
