import dns from 'node:dns'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { json, startScriptedServer, type ScriptedResponse } from '@tokenwell/internal-testing'
import { explainUnreachable } from '../../src/doctor/check-network.ts'
import { examined, startRawServer } from './run-doctor.ts'

const env = { CLIENT_ID: 'demo', CLIENT_SECRET: 'canary-secret' }
const doctor = (url: string, args: string[] = [], more: Record<string, string> = {}) =>
  examined(['--token-endpoint', url, ...args], { ...env, ...more })

async function respondWith(response: ScriptedResponse): Promise<string> {
  const server = await startScriptedServer(() => response)
  onTestFinished(() => server.close())
  return `${server.origin}/token`
}

async function served(serve: (socket: Socket) => void): Promise<number> {
  return (await startRawServer(serve)).port
}

type Found = (error: null, addresses: readonly dns.LookupAddress[]) => void

/** Resolves all names in another way, until the end of the test. */
function replaceLookup(lookup: (found: Found) => void): void {
  const spy = vi
    .spyOn(dns, 'lookup')
    .mockImplementation((...args: unknown[]) => void setImmediate(lookup, args.at(-1) as Found))
  onTestFinished(() => spy.mockRestore())
}

const token = { access_token: 'canary-token', expires_in: 3600 }
const noStore = { 'cache-control': 'no-store' }

describe('doctor and the network', () => {
  it('reports plain HTTP to another machine and sends nothing', async () => {
    const { faults, findings } = await doctor('http://auth.example.com/token')
    expect(faults).toStrictEqual(['plain_http'])
    expect(findings.map(({ code }) => code)).toStrictEqual(['chosen', 'plain_http'])
  })

  it('warns of plain HTTP if it is allowed', async () => {
    const url = (await respondWith(json(token, 200, noStore))).replace('127.0.0.1', '0.0.0.0')
    const allowed = await doctor(url, ['--allow-insecure'])
    expect(allowed.faults).toStrictEqual(['plain_http'])
    expect(allowed.textOf('plain_http')).not.toContain('--allow-insecure')
  })

  it('reports a host that cannot be resolved', async () => {
    const { faults, textOf } = await doctor('https://no-such-host.invalid/token', ['--timeout', '2'])
    // Without a network there is no name server to respond.
    expect(['name_not_found', 'name_lookup_failed']).toContain(faults[0])
    expect(textOf(faults[0]!)).toContain('no-such-host.invalid')
  })

  it('reports a DNS server that does not respond', async () => {
    replaceLookup(() => {})
    const { faults, textOf } = await doctor('https://auth.example.com/token', ['--timeout', '1'])
    expect(faults).toStrictEqual(['name_lookup_failed'])
    expect(textOf('name_lookup_failed')).toContain('did not resolve auth.example.com (TIMEOUT)')
  })

  it('names the addresses of a host', async () => {
    const loopback = { address: '127.0.0.1', family: 4 } as const
    replaceLookup((found) => found(null, [loopback, loopback]))
    const { host } = new URL((await respondWith(json(token))).replace('127.0.0.1', 'localhost'))
    const { textOf } = await doctor(`http://${host}/token`)
    expect(textOf('connected')).toContain(`Connected to ${host} (127.0.0.1) in `)
  })

  it('distinguishes a name that resolves from a server that cannot be reached', async () => {
    replaceLookup((found) => found(null, [{ address: '127.0.0.1', family: 4 }]))
    const port = await served(() => {})
    const { faults, textOf } = await doctor(`https://auth.example.com:${port}/token`, ['--timeout', '1'])
    expect(faults).toStrictEqual(['tls_failed'])
    expect(textOf('tls_failed')).toContain('TIMEOUT')
  })

  it('reports a port on which no server listens', async () => {
    const closed = await startScriptedServer(() => 'drop')
    await closed.close()
    expect((await doctor(`${closed.origin}/token`)).faults).toStrictEqual(['connection_refused'])
  })

  it.each([
    ['name', 'ENOTFOUND', 'name_not_found'],
    ['name', 'EAI_AGAIN', 'name_lookup_failed'],
    ['name', 'TIMEOUT', 'name_lookup_failed'],
    ['connection', 'ECONNREFUSED', 'connection_refused'],
    ['connection', 'TIMEOUT', 'connection_timeout'],
    ['connection', 'EHOSTUNREACH', 'unreachable'],
    ['connection', 'bad port', 'port_blocked'],
  ] as const)('distinguishes failures of the %s: %s', (stage, code, expected) => {
    const url = new URL('https://auth.example.com')
    expect(explainUnreachable({ stage, code }, url)).toMatchObject({ code: expected, level: 'problem' })
  })

  it('reports a port without TLS', async () => {
    const url = (await respondWith(json(token))).replace('http:', 'https:')
    expect((await doctor(url)).faults).toStrictEqual(['not_tls'])
  })

  it('reports a TLS handshake that does not finish', async () => {
    const port = await served(() => {})
    const { faults, textOf } = await doctor(`https://127.0.0.1:${port}/token`, ['--timeout', '2'])
    expect(faults).toStrictEqual(['tls_failed'])
    expect(textOf('tls_failed')).toContain('(TIMEOUT)')
  })

  it('reports a port without HTTP', async () => {
    const port = await served((socket) => socket.end('SSH-2.0-example\r\n'))
    expect((await doctor(`http://127.0.0.1:${port}/token`)).faults).toStrictEqual(['not_http'])
  })

  it('reports a response that does not finish', async () => {
    const port = await served((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'))
    })
    const { faults } = await doctor(`http://127.0.0.1:${port}/token`, ['--timeout', '2'])
    expect(faults).toStrictEqual(['response_incomplete'])
  })

  it('reports a response that is too large', async () => {
    const url = await respondWith({ body: 'x'.repeat(2 ** 20 + 1) })
    expect((await doctor(url)).faults).toStrictEqual(['response_too_large'])
  })

  it('reports that clocks cannot be compared without a Date header', async () => {
    const body = JSON.stringify(token)
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n`
    const port = await served((socket) => {
      socket.once('data', () => socket.end(`${head}content-length: ${body.length}\r\n\r\n${body}`))
    })
    const { faults, textOf } = await doctor(`http://127.0.0.1:${port}/token`)
    expect(faults).toStrictEqual([])
    expect(textOf('no_date')).toContain('could not be compared')
    expect(textOf('token')).toContain('in the format of RFC 6749')
    expect(textOf('connected')).toContain(`Connected to 127.0.0.1:${port} in `)
  })

  it('reports whether a proxy is used', async () => {
    const url = await respondWith(json(token, 200, noStore))
    const proxy = { http_proxy: 'http://proxy.example:3128' }
    expect((await doctor(url, [], proxy)).textOf('proxy_ignored')).toContain('NODE_USE_ENV_PROXY=1')
    const exempt = await doctor(url, [], { ...proxy, NO_PROXY: 'example.com, 127.0.0.1' })
    expect(exempt.findings.map(({ code }) => code)).not.toContain('proxy_ignored')
    const silent = await doctor(await respondWith('drop'), [], { ...proxy, NODE_USE_ENV_PROXY: '1' })
    expect(silent.faults).toStrictEqual(['connection_dropped'])
    const used = await doctor(url, [], { ...proxy, NODE_USE_ENV_PROXY: '1' })
    expect(used.findings.map(({ code }) => code)).toContain('through_proxy')
    expect(used.findings.map(({ code }) => code)).not.toContain('connected')
  })
})

describe('doctor and a hostile server', () => {
  it('prints neither repeated secrets nor control characters', async () => {
    const secret = 'canary secret/ß'
    const encoded = [encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)]
    const shown = async (response: ScriptedResponse) => {
      const { findings } = await doctor(await respondWith(response), ['--scope', 'read'], {
        CLIENT_SECRET: secret,
      })
      return JSON.stringify(findings)
    }
    for (const form of encoded) {
      const text = await shown({ status: 302, headers: { location: `https://evil.example/${form}` } })
      expect(text).toContain('https://evil.example/[redacted]')
      expect(text).not.toContain('canary')
    }
    const headers = { 'cache-control': `private, ${token.access_token}`, 'content-type': 'text/\u009b31mred' }
    const text = await shown(json(token, 200, headers))
    expect(text).toContain('private, [redacted]')
    expect(text).toContain('text/�31mred')
    expect(text).not.toContain('canary')
    const body = { error: 'canary secret/ß', error_description: secret }
    expect(await shown(json(body, 400))).not.toContain('canary')
  })
})
