import type { Finding } from './finding.ts'

/** Removes control characters and secrets, which a server may repeat, from a finding. */
export function redactFinding(finding: Finding, secrets: readonly string[]): Finding {
  const forms = secrets
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
    ])
  const clean = (text: string): string =>
    forms
      .reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
      .replace(/\p{C}/gu, '�')
      .slice(0, 600)
  const { message, advice } = finding
  return { ...finding, message: clean(message), ...(advice !== undefined && { advice: clean(advice) }) }
}
