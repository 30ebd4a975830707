import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { cells, tokenFor, useCheapPasswords, withApplication } from '../../portal/portal-browser.ts'

useCheapPasswords()

// 9.3e15 is larger than the numbers of JavaScript that are exact, 8.7e15 than its last date.
it.each(['9300000000000000', '8700000000000000', '9223372036854775807'])(
  'a secret that was changed by hand to expire at %s is shown as such, and can be revoked',
  async (expiresAtMs) => {
    const { admin, authUrl, service, application } = await withApplication()
    const { query } = service.context.storage.database
    await sql.raw(`update secrets set expires_at_ms = ${expiresAtMs}`).execute(query)
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    const list = await admin.get(`${application.path}/credentials`)
    expect([list.status, cells(list.text, 'time').at(-1)]).toEqual([200, 'unreadable'])
    expect((await admin.get('/portal/expiring-secrets')).status).toBe(200)
    const [, action = ''] = /action="([^"]+\/revocation)"/.exec(list.text) ?? []
    expect((await admin.post(action)).status).toBe(303)
    expect((await tokenFor(authUrl, application)).status).toBe(401)
  },
)
