/** @param fraction from 0 to 1 */
export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)}%`
}
