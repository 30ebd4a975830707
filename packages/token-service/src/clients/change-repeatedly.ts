const attempts = 5

/** Repeats a change until it succeeds; `change` resolves with `false` if a concurrent change prevented it. */
export async function changeRepeatedly(change: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) if (await change()) return
  throw new Error('The change failed because of too many concurrent changes. Try again.')
}
