import { describe, expect, it, onTestFinished } from 'vitest'
import { json, startScriptedServer, type ScriptedResponse } from '@tokenwell/internal-testing'
import { useSandboxedService } from '../sandboxed-service.ts'
import { runTokenwell } from '../tokenwell-process.ts'
import { startRawServer, examined } from './run-doctor.ts'

const service = useSandboxedService()
const doctor = (args: string[], env: Record<string, string> = {}) =>
  examined(args, { ...service.environmentOf('demo'), ...env })

async function startApi(response: ScriptedResponse) {
  const server = await startScriptedServer(() => response)
  onTestFinished(() => server.close())
  return server
}

describe('doctor with --api-url', () => {
  it('reports that the API accepts the token', async () => {
    const api = await startApi(json({}))
    const { faults, textOf } = await doctor(['--api-url', `${api.origin}/orders?page=1`])
    expect(faults).toStrictEqual([])
    expect(textOf('accepted')).toMatch(/127\.0\.0\.1:\d+\/orders accepted the token \(status 200, \d+ ms\)/)
    expect(api.requests[0]).toMatchObject({ method: 'GET', url: '/orders?page=1' })
    expect(api.requests[0]!.headers.authorization).toMatch(/^Bearer [\w-]{40,}$/)
  })

  it.each<[string, ScriptedResponse, RegExp]>([
    ['token_rejected', json({}, 401), /rejected the token \(status 401\)\. .*--audience/],
    ['not_allowed', json({}, 403), /does not allow the request \(status 403\)\. .*products/],
    ['api_throttled', json({}, 429, { 'retry-after': '7' }), /status 429 \(Retry-After: 7\)\. Send fewer/],
    ['api_failed', json({}, 500), /status 500\. Report this/],
    ['api_failed', json({}, 503), /status 503\. Report this/],
    ['api_path', json({}, 404), /does not show whether it accepts the token/],
    ['api_path', json({}, 300), /status 300/],
    ['api_path', { status: 302, headers: { location: 'https://evil.example.com' } }, /status 302/],
  ])('reports %s', async (code, response, message) => {
    const api = await startApi(response)
    const { faults, textOf } = await doctor(['--api-url', api.origin])
    expect(faults).toStrictEqual([code])
    expect(textOf(code)).toMatch(message)
  })

  it('reports an API that it cannot reach, and sends no token over plain HTTP', async () => {
    const api = await startScriptedServer(() => json({}))
    await api.close()
    const { findings } = await doctor(['--api-url', api.origin])
    expect(findings).toContainEqual(expect.objectContaining({ check: 'api', code: 'connection_refused' }))
    expect((await doctor(['--api-url', 'http://api.example.com'])).faults).toStrictEqual(['plain_http'])
  })

  it('reports an API that does not respond', async () => {
    const { port } = await startRawServer(() => {})
    const url = `http://127.0.0.1:${port}/orders`
    const { faults, textOf } = await doctor(['--api-url', url, '--timeout', '2'])
    expect(faults).toStrictEqual(['api_no_response'])
    expect(textOf('api_no_response')).toContain(`127.0.0.1:${port}/orders did not respond within 2 s.`)
  })

  it.each(['canary', 'localhost:8080/canary'])(
    'rejects %s before it prints or sends anything',
    async (url) => {
      const outcome = await runTokenwell(['doctor', '--api-url', url], service.environmentOf('demo'))
      expect(outcome).toMatchObject({
        code: 2,
        stdout: '',
        stderr:
          'tokenwell: --api-url is not a valid URL. Include the scheme, as in https://auth.example.com.\n',
      })
      expect((await service.journal()).total).toBe(0)
    },
  )
})

describe('doctor', () => {
  it('waits as long as Retry-After says, and tries again once', async () => {
    await service.fault({ status: 429, headers: { 'retry-after': '1' }, body: {} })
    const start = performance.now()
    const { faults, textOf } = await doctor([])
    expect(performance.now() - start).toBeGreaterThan(990)
    expect(faults).toStrictEqual([])
    expect(textOf('retry_after')).toContain('asks clients to wait 1 s (status 429)')
    expect((await service.journal()).total).toBe(2)
  })

  it('reports the source of rejected credentials', async () => {
    const env = {
      CLIENT_ID: '',
      CLIENT_SECRET: '',
      CONSUMER_KEY: 'nobody',
      CONSUMER_SECRET: 'canary-wrong',
    }
    const { faults, textOf } = await doctor([], env)
    expect(faults).toStrictEqual(['invalid_credentials'])
    expect(textOf('invalid_credentials')).toContain('Check CONSUMER_KEY and CONSUMER_SECRET.')
  })

  it('advises against Basic for credentials with special characters', async () => {
    const { faults, textOf } = await doctor(['--basic'], { CLIENT_SECRET: 'canary%+:wrong' })
    expect(faults).toStrictEqual(['basic_encoding'])
    expect(textOf('basic_encoding')).toContain('Omit --basic')
  })

  it('reports an --auth-url that contains the path', async () => {
    const env = { AUTH_URL: `${service.authUrl}/oauth/client_credential/accesstoken` }
    const { faults, textOf } = await doctor([], env)
    expect(faults).toStrictEqual(['platform_path_repeated', 'wrong_path'])
    expect(textOf('platform_path_repeated')).toContain(`Set it to ${service.authUrl},`)
  })

  it('prints text, and JSON only if asked', async () => {
    const { code, stdout } = await runTokenwell(['doctor'], service.environmentOf('demo'))
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^http:.*\/accesstoken\nok: authentication: .*\nnote: address: .*\n[^]*\nNo problems found\.\n$/,
    )
  })

  it('prints rounded times', async () => {
    const { stdout } = await runTokenwell(['doctor', '--json'], service.environmentOf('demo'))
    const { timings } = JSON.parse(stdout) as { timings: Record<string, number> }
    expect(Object.keys(timings)).toContain('response')
    for (const ms of Object.values(timings)) expect(String(ms)).toMatch(/^\d+(?:\.\d)?$/)
  })
})
