/** For the data that earlier versions of this program stored with PGlite. */
export function formerFormat(folder: string): string {
  return `The folder "${folder}" is in the format of PGlite, which this version does not read. Use a new file with "sqlite:FILE".`
}
