import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { runCommand, temporaryFolder, type ServiceProcess } from '../service-process.ts'
import { application, tokenPath } from '../test-service.ts'

const file = JSON.stringify({ port: 0, applications: [application] })
const keys = { TOKENWELL_KEYS: 'k'.repeat(40) }

/** The processes that have logged a request so far. */
function workerPids(service: ServiceProcess): Set<number> {
  const pids = service.output().matchAll(/"pid":(\d+).*"msg":"request"/g)
  return new Set(Array.from(pids, ([, pid]) => Number(pid)))
}

/** A token request on a connection of its own, which any worker can get. */
async function requestOnce(authUrl: string): Promise<number | undefined> {
  const { clientId, clientSecret } = application
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
  const sent = request(url, { agent: false, method: 'POST', headers })
  sent.end(new URLSearchParams({ client_id: clientId, client_secret: clientSecret }).toString())
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  return response.statusCode
}

describe('--workers', () => {
  it('requires PostgreSQL, and reports usage errors once', async () => {
    for (const storage of ['memory', 'sqlite:data.db']) {
      const cwd = temporaryFolder()
      const { ended } = runCommand(['--workers', '2', '--storage', storage], { cwd })
      const { code, stderr } = await ended
      expect(code).toBe(2)
      expect(stderr.match(/"workers" requires PostgreSQL storage/g)).toHaveLength(1)
    }
  })

  describe.skipIf(postgresIsAbsent)(`on PostgreSQL (${withoutPostgres})`, () => {
    it('serves with all of them, replaces one that is killed, adds up metrics, and stops', async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.stop())
      const cwd = temporaryFolder({ 'service.json': file })
      const env = { ...keys, TOKENWELL_STORAGE: await postgres.createDatabase() }
      const args = ['--config', 'service.json', '--workers', '2', '--drain-seconds', '1']
      const service = runCommand(args, { cwd, env })
      const authUrl = await service.authUrl
      let issued = 0
      async function requestUntilServedBy(count: number): Promise<void> {
        while (workerPids(service).size < count) {
          expect(await requestOnce(authUrl)).toBe(200)
          issued += 1
          await delay(20)
        }
      }
      await requestUntilServedBy(2)
      expect(service.output().match(/is listening on/g)).toHaveLength(1)
      const metrics = await (await fetch(`${authUrl}/metrics`)).text()
      const [, counted] = /seconds_count\{path="[^"]*accesstoken",status="200"\} (\d+)/.exec(metrics) ?? []
      expect(Number(counted)).toBe(issued)

      const [killed = 0] = workerPids(service)
      process.kill(killed, 'SIGKILL')
      await expect
        .poll(() => service.output())
        .toContain(`Worker ${killed} exited (SIGKILL). Starting another`)
      await requestUntilServedBy(3)

      const pending = Array.from({ length: 20 }, () => requestOnce(authUrl))
      await Promise.race(pending)
      service.child.kill('SIGTERM')
      const statuses = (await Promise.allSettled(pending)).flatMap((result) =>
        result.status === 'fulfilled' ? [result.value] : [],
      )
      expect(new Set(statuses)).toEqual(new Set([200]))
      expect((await service.ended).code).toBe(0)
      await expect(fetch(authUrl)).rejects.toThrow()
    })

    it('ends its workers when it is killed', async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.stop())
      const cwd = temporaryFolder({ 'service.json': file })
      const env = { ...keys, TOKENWELL_STORAGE: await postgres.createDatabase() }
      const service = runCommand(['--config', 'service.json', '--workers', '2'], { cwd, env })
      const authUrl = await service.authUrl
      service.child.kill('SIGKILL')
      await expect
        .poll(() =>
          fetch(authUrl).then(
            () => 'responds',
            () => 'gone',
          ),
        )
        .toBe('gone')
    })
  })
})
