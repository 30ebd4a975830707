/** When existing secrets expire after a rotation: the form's value, its label, and the seconds. */
export const overlaps = [
  ['hour', 'in 1 hour', 3_600],
  ['day', 'in 1 day', 86_400],
  ['week', 'in 7 days', 7 * 86_400],
  ['month', 'in 30 days', 30 * 86_400],
  ['never', 'never (revoke them later)', Infinity],
  ['now', 'now (clients that use them can no longer get tokens)', 0],
] as const
