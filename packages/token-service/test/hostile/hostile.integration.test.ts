import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { application, requestToken, resourceServer, testService, tokenPath } from '../test-service.ts'
import { attack } from './hostile-requests.ts'

// So that the limit on failures does not stop requests with a wrong secret.
const failureAttempts = 1_000_000

describe('hostile requests', () => {
  it('by the thousand cause no crash and no 5xx', async () => {
    const { authUrl } = await testService({ failureAttempts, metrics: true })
    const statuses = await attack(authUrl, 1_000, 20_261_121)
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
    // Each kind of request reached the code that it is meant for.
    for (const status of [200, 400, 401, 404, 405, 413, 415, 431])
      expect(statuses.get(status)).toBeGreaterThan(0)
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it.skipIf(postgresIsAbsent)(`cause no 5xx on PostgreSQL either (${withoutPostgres})`, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const storage = await postgres.createDatabase()
    const { authUrl } = await testService({ failureAttempts, storage, secretHashKeys: ['k'.repeat(40)] })
    const statuses = await attack(authUrl, 200, 7)
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('that never end are closed, and delay no others', async () => {
    const { authUrl } = await testService({ applications: [application], resourceServers: [resourceServer] })
    const { hostname, port } = new URL(authUrl)
    const beginnings = ['', 'POST', `POST ${tokenPath} HTTP/1.1\r\nhost: x\r\n`]
    const cut = Array.from({ length: 40 }, (_, index) => {
      return new Promise<string>((resolve) => {
        let received = ''
        const socket = connect(Number(port), hostname, () => socket.write(beginnings[index % 3] ?? ''))
        socket.on('data', (chunk) => (received += chunk.toString()))
        socket.on('error', () => {})
        socket.on('close', () => resolve(received))
      })
    })
    expect((await requestToken(authUrl)).status).toBe(200)
    const responses = await Promise.all(cut)
    expect(
      responses.filter((response) => response.startsWith('HTTP/1.1 408 ')).length,
    ).toBeGreaterThanOrEqual(20)
    expect(responses.filter((response) => /^HTTP\/1\.1 [25]/.test(response))).toEqual([])
  })
})
