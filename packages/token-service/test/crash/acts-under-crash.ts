import { expect } from 'vitest'
import { runCommand, type ServiceProcess } from '../service-process.ts'
import { adminSender } from '../test-service.ts'

const administrators = 4
const actsPerRound = 12
const adminToken = 'administrator-token-0123456789-abcdef'

export interface ActsPlan {
  readonly cwd: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly rounds: number
  /** Crashes the database under the running service; without it, the service itself is killed. */
  readonly crashDatabase?: (() => Promise<void>) | undefined
}

/**
 * Crashes while four administrators register resource servers, again and again, and compares these with the audit log:
 * neither is without the other. Returns how many were confirmed.
 */
export async function actsUnderCrash({ cwd, args, env, rounds, crashDatabase }: ActsPlan): Promise<number> {
  const start = () => {
    const more = { TOKENWELL_ADMIN_TOKEN: adminToken, ...env }
    return runCommand(['--port', '0', '--admin-port', '0', '--log-level', 'silent', ...args], {
      cwd,
      env: more,
    })
  }
  const confirmed = new Set<string>()
  let service = start()
  for (let round = 0; round < rounds; round += 1) {
    let send = await sender(service)
    let crashed: Promise<unknown> | undefined
    const before = confirmed.size
    const administrate = async () => {
      for (;;) {
        const { status, body } = await send('POST', '/resource-servers', { name: 'an API' })
        // The database is gone: the act may have been done or not.
        if (status === 503) return
        expect(status).toBe(201)
        confirmed.add(body.clientId)
        if (confirmed.size - before < actsPerRound) continue
        crashed ??= crashDatabase ? crashDatabase() : Promise.resolve(service.child.kill('SIGKILL'))
        if (crashDatabase) return
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: administrators }, administrate))
    for (const end of ends) {
      if (end.status === 'rejected') {
        expect(String(end.reason)).toMatch(/fetch failed|terminated|other side closed/)
      }
    }
    await crashed
    if (!crashDatabase) {
      await service.ended
      service = start()
      send = await sender(service)
    }
    await expect
      .poll(async () => (await send('GET', '/resource-servers')).status, { timeout: 30_000 })
      .toBe(200)
    const servers = (await send('GET', '/resource-servers')).body as { clientId: string }[]
    const lines = String((await send('GET', '/audit?event=resource_server_created&limit=100000')).body).trim()
    const entries = lines.split('\n').map((line) => String(JSON.parse(line).clientId))
    const existing = servers.map(({ clientId }) => clientId)
    expect(entries.toSorted()).toEqual(existing.toSorted())
    expect([...confirmed].filter((clientId) => !existing.includes(clientId))).toEqual([])
  }
  return confirmed.size
}

async function sender(service: ServiceProcess) {
  await service.authUrl
  await expect.poll(() => service.output(), { timeout: 30_000 }).toMatch(/Administration.* http\S+/)
  const url = /Administration.* (http\S+)/.exec(service.output())?.[1] ?? ''
  return adminSender(url, adminToken)
}
