/** What is wrong with a text that should be PEM, if it is a mistake that environment variables and YAML files cause. */
export function explainPem(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  if (/^["']/.test(trimmed)) return 'It is in quotation marks: remove them.'
  if (text.includes(String.raw`\n`)) {
    return String.raw`It contains \n as two characters: replace them by line breaks, such as with key.replaceAll('\\n', '\n').`
  }
  if (/ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text)) {
    return 'It is encrypted. Decrypt it: openssl pkcs8 -topk8 -nocrypt -in key.pem'
  }
  return undefined
}
