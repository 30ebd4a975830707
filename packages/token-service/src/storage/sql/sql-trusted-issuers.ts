import type { IdentityRule } from '../application.ts'
import type { Schema } from '../schema.ts'
import type { TrustedIssuerStorage, TrustedIssuer } from '../storage.ts'
import type { Database } from './database.ts'

export function createSqlTrustedIssuers({ query }: Database): TrustedIssuerStorage {
  return {
    async find(issuer) {
      const row = await query
        .selectFrom('trustedIssuers')
        .selectAll()
        .where('issuer', '=', issuer)
        .executeTakeFirst()
      return row && toTrustedIssuer(row)
    },
    async list() {
      const rows = await query.selectFrom('trustedIssuers').selectAll().orderBy('issuer').execute()
      return rows.map(toTrustedIssuer)
    },
    async create(issuer) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('trustedIssuers')
        .values(toRow(issuer))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    async replace(issuer) {
      await query.updateTable('trustedIssuers').set(toRow(issuer)).where('id', '=', issuer.id).execute()
    },
    async remove(id) {
      await query.deleteFrom('trustedIssuers').where('id', '=', id).execute()
    },
  }
}

type Row = Schema['trustedIssuers']

function toRow({ jwksUrl, audiences, detectReplay, rules, configured, ...issuer }: TrustedIssuer): Row {
  return {
    ...issuer,
    jwksUrl: jwksUrl ?? null,
    audiences: JSON.stringify(audiences),
    detectReplay: Number(detectReplay),
    rules: JSON.stringify(rules),
    configured: Number(configured),
  }
}

function toTrustedIssuer({
  jwksUrl,
  audiences,
  detectReplay,
  rules,
  configured,
  ...row
}: Row): TrustedIssuer {
  return {
    ...row,
    ...(jwksUrl !== null && { jwksUrl }),
    audiences: JSON.parse(audiences) as string[],
    detectReplay: detectReplay === 1,
    rules: JSON.parse(rules) as IdentityRule[],
    configured: configured === 1,
  }
}
