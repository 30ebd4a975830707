/** What the page needs to know before it does anything. */
export interface PlatformFacts {
  readonly speechUrl: string
  /** Whether the page may get tokens of its own and call the speech API itself. */
  readonly direct: boolean
}
