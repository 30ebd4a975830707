/** The code of the innermost cause of an error; the name of an error without a code. */
export function networkCode(error: unknown): string {
  const { code, name, cause } = Object(error) as { code?: unknown; name?: unknown; cause?: unknown }
  // The code of a DOMException is a number.
  if (cause !== undefined) return networkCode(cause)
  return typeof code === 'string' ? code : String(name)
}

/** The status with which a proxy responded to CONNECT: Node reports it in a message alone. */
export function proxyStatusOf(error: unknown): number | undefined {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown }
  const [, status] = /^Proxy response \((\d{3})\)/.exec(String(message)) ?? []
  if (status !== undefined) return Number(status)
  return cause === undefined ? undefined : proxyStatusOf(cause)
}
