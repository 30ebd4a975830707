import { Logger } from '@nestjs/common'
import { logTokenEvents } from '@tokenwell/nestjs-module'
import { createTokenProvider, type TokenEvent } from '@tokenwell/core'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { expect, it, onTestFinished, vi } from 'vitest'

const servers = useTestServers()

it('writes events to the logger, failures as errors or warnings', async () => {
  const lines: string[] = []
  const level = (name: string) => (text: unknown) => void lines.push(`${name} ${String(text)}`)
  const listener = logTokenEvents({
    log: level('log'),
    error: level('error'),
    warn: level('warn'),
    debug: level('debug'),
  })
  const tokens = createTokenProvider(servers.endpoint.source, { onEvent: listener, maxAttempts: 1 })
  onTestFinished(() => tokens.close())
  tokens.reject(await tokens.getToken())
  servers.endpoint.respond = () => json({}, 503)
  await tokens.getToken({ forceRefresh: true }).catch(() => {})
  servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  await tokens.getToken({ forceRefresh: true }).catch(() => {})
  listener({ type: 'token_withheld', origin: 'https://other.example.com' })
  expect(lines).toContainEqual(expect.stringMatching(/^debug token_received .*from=endpoint/))
  expect(lines).toContainEqual(expect.stringMatching(/^warn token_rejected /))
  expect(lines).toContainEqual(
    expect.stringMatching(/^error token_failed .*kind=credentials.*oauthError=invalid_client/),
  )
  expect(lines).toContainEqual(expect.stringMatching(/^warn token_failed .*kind=unavailable/))
  expect(lines).toContain('warn token_withheld origin=https://other.example.com')
  expect(lines.join('\n')).not.toContain(servers.endpoint.issued[0])
  expect(lines.join('\n')).not.toContain('=undefined')
})

it('warns once for each origin whose requests carry no token', () => {
  const [warn, debug] = [vi.fn(), vi.fn()]
  const listener = logTokenEvents({ log() {}, error() {}, warn, debug })
  for (const host of ['a', 'b', 'a', 'a'])
    listener({ type: 'token_withheld', origin: `https://${host}.example.com` })
  expect([warn.mock.calls.length, debug.mock.calls.length]).toStrictEqual([2, 2])
})

it("writes to Nest's logger by default", () => {
  const warn = vi.fn()
  Logger.overrideLogger({ log() {}, error() {}, warn })
  onTestFinished(() => Logger.overrideLogger(true))
  logTokenEvents()({ type: 'token_withheld', origin: 'https://other.example.com' })
  expect(warn.mock.calls).toStrictEqual([['token_withheld origin=https://other.example.com', 'TokenModule']])
})

it('skips debug messages if the logger has no such level', () => {
  const warn = vi.fn()
  const listener = logTokenEvents({ log() {}, error() {}, warn })
  listener({ type: 'token_requested', requestId: 1, reason: 'first', attempt: 1 })
  listener({ type: 'token_withheld', origin: 'https://other.example.com' })
  expect(warn).toHaveBeenCalledOnce()
})

it.each([
  [{ type: 'store_unavailable', operation: 'read', error: 'ECONNREFUSED' }, 'warn'],
  [{ type: 'lifetime_unknown' }, 'warn'],
  [{ type: 'token_failed', kind: 'configuration' }, 'error'],
  [{ type: 'token_failed', kind: 'aborted' }, 'warn'],
])('writes %j as %s', (event, level) => {
  const levels: string[] = []
  const write = (name: string) => () => void levels.push(name)
  const listener = logTokenEvents({
    log: write('log'),
    error: write('error'),
    warn: write('warn'),
    debug: write('debug'),
  })
  listener(event as TokenEvent)
  expect(levels).toStrictEqual([level])
})
