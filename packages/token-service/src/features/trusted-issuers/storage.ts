import type { IdentityRule, KeySet, TrustedIssuer } from '../../storage/application.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Database } from '../../storage/database.ts'

export type TrustedIssuerStorage = ReturnType<typeof trustedIssuerStorage>

/** Issuers whose JWTs are exchanged for access tokens. */
export function trustedIssuerStorage({ query }: Database) {
  return {
    async find(issuer: string): Promise<TrustedIssuer | undefined> {
      const row = await query
        .selectFrom('trustedIssuers')
        .selectAll()
        .where('issuer', '=', issuer)
        .executeTakeFirst()
      return row && toTrustedIssuer(row)
    },
    /** In alphabetical order. */
    async list(): Promise<TrustedIssuer[]> {
      const rows = await query.selectFrom('trustedIssuers').selectAll().orderBy('issuer').execute()
      return rows.map(toTrustedIssuer)
    },
    /** `false` if it is trusted already. */
    async create(issuer: TrustedIssuer): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('trustedIssuers')
        .values(toRow(issuer))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    /** Does nothing for an unknown ID. */
    async replace(issuer: TrustedIssuer): Promise<void> {
      await query.updateTable('trustedIssuers').set(toRow(issuer)).where('id', '=', issuer.id).execute()
    },
    /** Tokens that were issued for its JWTs are no longer found. */
    async remove(id: string): Promise<void> {
      await query.deleteFrom('trustedIssuers').where('id', '=', id).execute()
    },
  }
}

type Row = Schema['trustedIssuers']

function toRow({ jwksUrl, jwks, audiences, detectReplay, rules, configured, ...issuer }: TrustedIssuer): Row {
  return {
    ...issuer,
    jwksUrl: jwksUrl ?? null,
    jwks: jwks === undefined ? null : JSON.stringify(jwks),
    audiences: JSON.stringify(audiences),
    detectReplay: Number(detectReplay),
    rules: JSON.stringify(rules),
    configured: Number(configured),
  }
}

function toTrustedIssuer({
  jwksUrl,
  jwks,
  audiences,
  detectReplay,
  rules,
  configured,
  ...row
}: Row): TrustedIssuer {
  return {
    ...row,
    ...(jwksUrl !== null && { jwksUrl }),
    ...(jwks !== null && { jwks: JSON.parse(jwks) as KeySet }),
    audiences: JSON.parse(audiences) as string[],
    detectReplay: detectReplay === 1,
    rules: JSON.parse(rules) as IdentityRule[],
    configured: configured === 1,
  }
}
