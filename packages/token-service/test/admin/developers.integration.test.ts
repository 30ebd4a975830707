import { describe, expect, it } from 'vitest'
import type { TokenServiceOptions } from '@tokenwell/token-service'
import { digest } from '../../src/runtime/digest.ts'
import { testService, administeredService } from '../test-service.ts'

async function withDevelopers(options: TokenServiceOptions = {}) {
  const service = await administeredService(options)
  const { storage, clock } = service.context
  const hashOf = (link: string) => digest(link.split('/').at(-1) ?? '')
  return {
    service,
    send: service.send,
    hashOf,
    storage,
    clock,
    /** As a developer who opens the link. */
    join: (name: string, link: string, administrator: boolean) =>
      storage.developers.join(
        { id: `id of ${name}`, name, passwordHash: 'canary', administrator, createdAtMs: 1 },
        hashOf(link),
        clock.now(),
      ),
  }
}

describe('developers of the portal', () => {
  it('are invited, and listed without their passwords', async () => {
    const { send, join } = await withDevelopers()
    const first = await send('POST', '/invitations')
    expect(first.status).toBe(201)
    // Nobody but the first developer becomes an administrator by an invitation.
    expect(await join('ada', first.body.link, true)).toBe(true)
    const second = await send('POST', '/invitations')
    expect(await join('grace', second.body.link, false)).toBe(true)
    expect((await send('GET', '/developers')).body).toEqual([
      { id: 'id of ada', name: 'ada', administrator: true, createdAtMs: 1 },
      { id: 'id of grace', name: 'grace', administrator: false, createdAtMs: 1 },
    ])
  })

  it('cannot join with an invitation that an administrator withdrew', async () => {
    const { send, join, storage } = await withDevelopers()
    const { body: kept } = await send('POST', '/invitations')
    const { body: withdrawn } = await send('POST', '/invitations')
    const [open] = await storage.developers.invitations(0)
    const listed = { administrator: open!.administrator, expiresAtMs: expect.any(Number) as number }
    const { body } = await send('GET', '/invitations')
    expect(body).toHaveLength(2)
    expect(body).toEqual(expect.arrayContaining([kept, withdrawn].map(({ id }) => ({ id, ...listed }))))
    expect((await send('DELETE', `/invitations/${withdrawn.id}`)).status).toBe(204)
    expect(await send('DELETE', `/invitations/${withdrawn.id}`)).toMatchObject({
      status: 404,
      body: { error: 'There is no such invitation: it was used or withdrawn, or has expired.' },
    })
    expect(await join('ada', withdrawn.link, open!.administrator)).toBe(false)
    expect((await send('GET', '/invitations')).body).toEqual([{ id: kept.id, ...listed }])
    expect(await join('ada', kept.link, open!.administrator)).toBe(true)
    const [entry] = String((await send('GET', '/audit')).body).split('\n')
    expect(JSON.parse(entry!)).toMatchObject({ event: 'invitation_withdrawn', actorType: 'api' })
  })

  it('are promoted, demoted and removed by name, in any spelling, but not the last administrator', async () => {
    const { send, join, service } = await withDevelopers()
    await join('ada', (await service.createSetupLink()) ?? '', true)
    await join('grace', (await send('POST', '/invitations')).body.link, false)
    const last = await send('POST', '/developers/ada/demote')
    expect([last.status, last.body.error]).toEqual([409, expect.stringMatching(/^The last administrator/)])
    expect((await send('DELETE', '/developers/ada')).status).toBe(409)
    expect((await send('POST', '/developers/GRACE/promote')).status).toBe(204)
    expect((await send('POST', `/developers/${encodeURIComponent('Ａda')}/demote`)).status).toBe(204)
    expect((await send('GET', '/developers')).body).toMatchObject([
      { name: 'ada', administrator: false },
      { name: 'grace', administrator: true },
    ])
    expect((await send('DELETE', '/developers/ada')).status).toBe(204)
    expect((await send('GET', '/developers')).body).toMatchObject([{ name: 'grace' }])
    const error = 'The developer portal has no developer named "ada".'
    for (const path of ['/developers/ada/promote', '/developers/ada/password-link'])
      expect(await send('POST', path)).toMatchObject({ status: 404, body: { error } })
    const events = String((await send('GET', '/audit')).body)
    for (const event of ['developer_promoted', 'developer_demoted', 'developer_removed'])
      expect(events).toContain(`"event":"${event}"`)
    expect(events).toContain('"event":"developer_invited"')
  })

  it('get a link to set a new password', async () => {
    const { send, join, storage, clock, hashOf, service } = await withDevelopers()
    await join('ada', (await service.createSetupLink()) ?? '', true)
    const { status, body } = await send('POST', '/developers/Ada/password-link')
    expect(status).toBe(201)
    for (const link of [String(body.link), await service.createPasswordLink('ADA')]) {
      expect(link.startsWith(`${service.authUrl}/portal/password/`)).toBe(true)
      const findAt = (nowMs: number) => storage.developers.findPasswordLink(hashOf(link), nowMs)
      expect(await findAt(clock.now())).toMatchObject({ name: 'ada' })
      expect(await findAt(clock.now() + 15 * 60_000)).toBeUndefined()
    }
    const [second = '', first = ''] = String((await send('GET', '/audit')).body).split('\n')
    const event = { event: 'password_link_created', detail: 'ada' }
    expect(JSON.parse(first)).toMatchObject({ ...event, actorType: 'api', address: '127.0.0.1' })
    expect(JSON.parse(second)).toMatchObject({ ...event, actorType: 'command' })
  })
})

describe('the setup link', () => {
  it('is under the public URL, and exists until somebody has joined', async () => {
    const { service, join } = await withDevelopers({ publicUrl: 'https://auth.example.com/' })
    const link = (await service.createSetupLink()) ?? ''
    expect(link).toMatch(/^https:\/\/auth\.example\.com\/portal\/join\/[\w-]{43}$/)
    expect(await join('ada', link, true)).toBe(true)
    expect(await service.createSetupLink()).toBeUndefined()
  })

  it('needs a portal, and so do other links', async () => {
    const service = await testService()
    expect(await service.createSetupLink()).toBeUndefined()
    await expect(service.createPasswordLink('ada')).rejects.toThrow('This service has no developer portal.')
    const { send } = await administeredService({ portal: false })
    expect(await send('POST', '/invitations')).toMatchObject({
      status: 404,
      body: { error: 'This service has no developer portal.' },
    })
  })
})
