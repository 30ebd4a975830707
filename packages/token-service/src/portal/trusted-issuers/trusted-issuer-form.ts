import { html, type SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import { trustedIssuerSettings, type TrustedIssuerSettings } from '../../clients/trusted-issuers.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { describeIssue, firstIssue } from '../../runtime/parse-value.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import type { IdentityRule, TrustedIssuer } from '../../storage/storage.ts'
import { choice, field, textArea, type FormState } from '../layout/form.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'

const issuerForm = z.object({
  issuer: line(1_000),
  jwks_url: optionalLine(1_000),
  audiences: optionalLine(5_000),
  rules: z.string().max(10_000, 'Use at most 10,000 characters.'),
  replay: z.enum(['until-expiry', 'once']),
})

const exampleRules = [{ clientId: 'orders', claims: { sub: 'repo:example/orders:*' } }]

/** JSON with one rule in a line. */
function rulesText(rules: readonly IdentityRule[]): string {
  return `[\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n]`
}

export const newIssuerState: FormState = {
  values: { rules: rulesText(exampleRules), replay: 'until-expiry' },
  errors: {},
}

export function issuerState(issuer: TrustedIssuer): FormState {
  return {
    values: {
      issuer: issuer.issuer,
      jwks_url: issuer.jwksUrl ?? '',
      audiences: issuer.audiences.join(' '),
      rules: rulesText(issuer.rules),
      replay: issuer.detectReplay ? 'once' : 'until-expiry',
    },
    errors: {},
  }
}

export function issuerFields(state: FormState): SafeHtml {
  const rules = 'Which application a JWT stands for, as JSON. A text may end with * after : or /.'
  return html`${field({ name: 'issuer', label: 'Issuer', hint: 'The iss of its JWTs, character by character.' }, state)}
  ${field({ name: 'jwks_url', label: 'URL of its JWK set', hint: 'Without one, its metadata name it.', required: false }, state)}
  ${field({ name: 'audiences', label: 'Audiences', hint: 'Separated by spaces. Without any, a JWT must be for this service.', required: false }, state)}
  ${textArea({ name: 'rules', label: 'Rules', hint: rules }, state)}
  ${choice(
    {
      name: 'replay',
      label: 'Each JWT is accepted',
      choices: [
        ['until-expiry', 'until it expires'],
        ['once', 'once, by its jti'],
      ],
    },
    state,
  )}`
}

/** Saves what the form says; returns what is wrong with it. */
export async function saveIssuer(
  form: RawParameters,
  save: (settings: TrustedIssuerSettings) => Promise<unknown>,
): Promise<FormState | undefined> {
  const parsed = parseForm(issuerForm, form)
  if (!parsed.data) return parsed.state
  const { issuer, jwks_url: jwksUrl, audiences, rules, replay } = parsed.data
  const wrong = (name: string, error: string): FormState => ({
    values: parsed.data,
    errors: { [name]: error },
  })
  const settings = trustedIssuerSettings.safeParse(
    {
      issuer,
      ...(jwksUrl && { jwksUrl }),
      audiences: audiences.split(' ').filter(Boolean),
      rules: parseJson(rules),
      detectReplay: replay === 'once',
    },
    { error: describeIssue },
  )
  if (!settings.success) {
    const [name, what] = firstIssue(settings.error)
    return wrong(name === 'jwksUrl' ? 'jwks_url' : /^\w+/.exec(name)![0], `${name} ${what}.`)
  }
  try {
    await save(settings.data)
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return wrong(error instanceof NotFoundError ? 'rules' : 'issuer', error.message)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
