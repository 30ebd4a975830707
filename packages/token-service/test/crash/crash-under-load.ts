import { expect } from 'vitest'
import { runCommand } from '../service-process.ts'
import { application, basic, introspect, postForm, requestToken, resourceServer } from '../test-service.ts'

const connections = 16
const perRound = 150

export interface CrashPlan {
  readonly cwd: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly kills: number
}

/** The files that `temporaryFolder` must contain. */
export const crashFiles = {
  'service.json': JSON.stringify({
    applications: [application],
    resourceServers: [resourceServer],
    logLevel: 'warn',
  }),
}

/**
 * Kills the service with SIGKILL under load, again and again, and checks after each kill whether every token that
 * was returned is active, and no revoked token is active again.
 */
export async function crashUnderLoad({
  cwd,
  args,
  env,
  kills,
}: CrashPlan): Promise<{ issued: number; revoked: number }> {
  const issued = new Set<string>()
  const revoked = new Set<string>()
  const start = () =>
    runCommand(['--config', 'service.json', '--port', '0', ...args], { cwd, ...(env && { env }) })

  let service = start()
  for (let kill = 0; kill < kills; kill += 1) {
    await loadUntilKilled(service, issued, revoked)
    await service.ended
    service = start()
    const authUrl = await service.authUrl
    await checkAll(authUrl, issued, true)
    await checkAll(authUrl, revoked, false)
  }
  return { issued: issued.size, revoked: revoked.size }
}

async function loadUntilKilled(
  { child, authUrl: starting }: ReturnType<typeof runCommand>,
  issued: Set<string>,
  revoked: Set<string>,
): Promise<void> {
  const authUrl = await starting
  const before = issued.size + revoked.size
  let responses = 0

  async function client(): Promise<void> {
    while (child.exitCode === null && child.signalCode === null) {
      const { status, body } = await requestToken(authUrl)
      expect(status).toBe(200)
      const token: string = body.access_token
      responses += 1
      if (responses % 3 > 0) issued.add(token)
      else {
        // It is in neither set until the response, because its state is unknown.
        const response = await postForm(`${authUrl}/oauth/revoke`, { token }, basic(application))
        expect(response.status).toBe(200)
        revoked.add(token)
      }
      if (issued.size + revoked.size - before >= perRound) child.kill('SIGKILL')
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: connections }, client))
  for (const end of ends) {
    // Only requests that were pending when the service was killed may fail.
    if (end.status === 'rejected')
      expect(String(end.reason)).toMatch(/fetch failed|terminated|other side closed/)
  }
}

async function checkAll(authUrl: string, tokens: Set<string>, active: boolean): Promise<void> {
  const waiting = [...tokens]
  async function check(): Promise<void> {
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) {
      const { status, body } = await introspect(authUrl, token)
      expect([status, body.active]).toEqual([200, active])
    }
  }
  await Promise.all(Array.from({ length: connections }, check))
}
