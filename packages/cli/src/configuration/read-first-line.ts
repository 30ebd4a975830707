import { createInterface } from 'node:readline'

/** Undefined for empty input. */
export async function readFirstLine(input: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input })) return line || undefined
  return undefined
}
