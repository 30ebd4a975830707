/** When existing secrets expire after a rotation: the form's value, its label, and the seconds. */
export const overlaps = [
  ['hour', 'in 1 hour', 3_600],
  ['day', 'in 1 day', 86_400],
  ['week', 'in 7 days', 7 * 86_400],
  ['month', 'in 30 days', 30 * 86_400],
  ['never', 'as before (revoke them later)', Infinity],
  ['now', 'now (requests that use them fail at once)', 0],
] as const

/** What a rotation did to the existing secrets, and what to do next. */
export function describeOverlap([, label, seconds]: (typeof overlaps)[number]): string {
  if (seconds === 0) return 'The existing secrets have expired. Deploy the new secret at once.'
  return seconds === Infinity
    ? 'The expiry of the existing secrets is unchanged. Deploy the new secret, check that the existing ones are no longer used, and revoke them.'
    : `The existing secrets expire ${label}. Deploy the new secret before then.`
}
