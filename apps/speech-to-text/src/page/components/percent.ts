/** @param share from 0 to 1 */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
