/** Whether a token has the shape of a signed JWT: three parts, the first of which is a JSON object. */
export function isJwt(token: string): boolean {
  const [, header] = /^([\w-]+)\.[\w-]+\.[\w-]*$/.exec(token) ?? []
  if (header === undefined) return false
  try {
    return typeof JSON.parse(atob(header.replaceAll('-', '+').replaceAll('_', '/'))) === 'object'
  } catch {
    return false
  }
}
