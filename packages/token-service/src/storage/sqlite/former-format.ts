/** For the data that earlier versions of this program stored with PGlite. */
export function formerFormat(folder: string): string {
  return `The folder ${folder} has the format of PGlite, which this version cannot read. Use a new file: sqlite:FILE.`
}
