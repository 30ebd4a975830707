/** The floor: what a team writes by hand, with no renewal on a refusal and no check of the host. */
export function closureHeader(): () => Promise<string> {
  const token = { value: 'a'.repeat(32), expiresAtMs: Date.now() + 3_600_000 }
  return () =>
    Date.now() < token.expiresAtMs
      ? Promise.resolve(`Bearer ${token.value}`)
      : Promise.reject(new Error('expired'))
}
