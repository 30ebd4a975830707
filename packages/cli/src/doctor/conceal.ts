import type { Finding } from './finding.ts'

/** Takes out of a finding what no terminal is to show: secrets, should a server repeat them, and control characters. */
export function conceal<Shown extends Finding>(finding: Shown, secrets: readonly string[]): Shown {
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
