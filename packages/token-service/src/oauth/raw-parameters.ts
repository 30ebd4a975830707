/** A parsed form or query: a repeated name becomes a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>
