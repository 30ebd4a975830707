/** A server that test files share. */
export interface SharedServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The environment variable with the URL under which test files ask for shared servers. */
export const sharedServersVariable = 'TOKENWELL_SHARED_SERVERS'

/** The URL of a shared server; undefined outside Vitest. */
export async function sharedServer(name: string): Promise<string | undefined> {
  const broker = process.env[sharedServersVariable]
  if (broker === undefined) return undefined
  const response = await fetch(`${broker}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
