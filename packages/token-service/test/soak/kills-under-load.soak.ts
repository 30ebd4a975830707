import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { crashFiles } from '../crash/crash-under-load.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { introspect, requestToken } from '../test-service.ts'

const table = createSoakTable()
const seconds = 600
const killEverySeconds = 20
/** So many tokens are checked in the end, of all that were issued. */
const checked = 5_000

it.skipIf(postgresIsAbsent)(
  `two instances that are killed in turn under load lose no token and respond with 200 or 503 (${withoutPostgres})`,
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const env = {
      TOKENWELL_STORAGE: await postgres.createDatabase(),
      TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(40),
    }
    const cwd = temporaryFolder(crashFiles)
    const start = async () => {
      const port = String(await freePort())
      const { child, authUrl, ended } = runCommand(['--config', 'service.json', '--port', port], { cwd, env })
      return { child, ended, authUrl: await authUrl }
    }
    const instances = [await start(), await start()]
    const urlOf = (at: number) => instances[at % 2]!.authUrl

    // Their capacity: what they serve to clients that wait for each response.
    let served = 0
    const until = performance.now() + 5_000
    const waiting = Array.from({ length: 32 }, async (_, at) => {
      for (; performance.now() < until; served += 1) await requestToken(urlOf(at))
    })
    await Promise.all(waiting)
    const perTick = Math.ceil(((served / 5) * 2) / 50)

    const counts: Record<string, number> = {}
    const tokens: string[] = []
    const pending = new Set<Promise<void>>()
    const restarts: Promise<void>[] = []
    let worstMs = 0
    const restart = async (at: number) => {
      instances[at]!.child.kill('SIGKILL')
      await instances[at]!.ended
      instances[at] = await start()
    }
    const send = async (at: number) => {
      const sinceMs = performance.now()
      const { status, body } = await requestToken(urlOf(at)).catch(() => ({
        status: 'killed',
        body: {} as never,
      }))
      counts[status] = (counts[status] ?? 0) + 1
      if (status !== 200) return
      worstMs = Math.max(worstMs, performance.now() - sinceMs)
      if (tokens.length < checked || Math.random() < 0.01) tokens[tokens.length % checked] = body.access_token
    }
    await table.measure(`${seconds} s of load, with a kill every ${killEverySeconds} s`, async () => {
      let sent = 0
      const sinceMs = performance.now()
      for (let kills = 0; performance.now() - sinceMs < seconds * 1000; await delay(20)) {
        for (let more = 0; more < perTick; more += 1) {
          const request: Promise<void> = send((sent += 1)).finally(() => pending.delete(request))
          pending.add(request)
        }
        if (performance.now() - sinceMs < (kills + 1) * killEverySeconds * 1000) continue
        restarts.push(restart((kills += 1) % 2))
      }
      await Promise.all([...pending, ...restarts])
      for (const token of tokens)
        expect((await introspect(urlOf(0), token)).body, 'a token that was issued').toMatchObject({
          active: true,
        })
      const { '503': unavailable = 0, killed = 0 } = counts
      const figures = `${Math.round(sent / seconds)} requests a second, of ${perTick * 50} that are twice the capacity; 503: ${Math.round((unavailable / sent) * 100)} %; on a killed instance: ${killed}; ${tokens.length} tokens checked`
      return { calls: sent, failures: unavailable + killed, worstMs, figures }
    })
    expect(Object.keys(counts).filter((status) => !['200', '503', 'killed'].includes(status))).toEqual([])
  },
)
