/** How long older secrets stay good beside a new one: the form's value, its words, and the seconds. */
export const overlaps = [
  ['hour', 'in an hour', 3_600],
  ['day', 'in a day', 86_400],
  ['week', 'in 7 days', 7 * 86_400],
  ['month', 'in 30 days', 30 * 86_400],
  ['never', 'when I revoke them', Infinity],
  ['now', 'at once', 0],
] as const
