/** The code of the innermost cause of an error; the name of an error without a code. */
export function networkCode(error: unknown): string {
  const { code, name, cause } = Object(error) as { code?: unknown; name?: unknown; cause?: unknown }
  // The code of a DOMException is a number.
  if (cause !== undefined) return networkCode(cause)
  return typeof code === 'string' ? code : String(name)
}
