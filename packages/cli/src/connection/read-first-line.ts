import { createInterface } from 'node:readline'

/** Undefined where there is none. */
export async function readFirstLine(input: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input })) return line || undefined
  return undefined
}
