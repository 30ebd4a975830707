/** What the page must know before it can do anything. */
export interface PageSettings {
  readonly speechUrl: string
  /** Whether the page can get its own tokens and call the speech API itself. */
  readonly direct: boolean
}
