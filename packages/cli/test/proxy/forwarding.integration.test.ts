import { expect, it } from 'vitest'
import { exchange, startProxy } from './running-proxy.ts'
import { oddBody, upstreams } from './upstreams.ts'

const oddRequestFields = [
  'Accept-Encoding: gzip',
  'Authorization: Basic b2YtdGhlLWNsaWVudA==',
  'Connection: close, X-Hop',
  'Cookie: a=1; b=2',
  'Keep-Alive: timeout=5',
  'Proxy-Authorization: Basic eDp4',
  'Proxy-Connection: keep-alive',
  'TE: trailers',
  'Trailer: X-Trailer',
  'Upgrade: h2c',
  'X-End: Zo\xEB',
  'X-Hop: 1',
  'X-Multi: one',
  'X-Multi: two',
]

function send(url: URL, method: string, path: string, fields: readonly string[], body = ''): Promise<string> {
  const lines = [`${method} ${url.pathname}${path} HTTP/1.1`, `Host: ${url.host}`, ...fields, '', body]
  return exchange(url, lines.join('\r\n'))
}

/** What an upstream received. */
function readEcho(response: string): Record<string, string> {
  const [, text = ''] = response.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split(/\r\n\r\n(.*)/s)
  const lines = text.replaceAll(/(?:^|\r\n)[\da-f]+\r\n/g, '').split('\n')
  return Object.fromEntries(
    lines.map((line) => line.split(/=(.*)/s).slice(0, 2)).filter(([, value]) => value),
  )
}

// The table in docs/command-line.md
for (const { name, isInstalled, start, showsAll } of upstreams) {
  it.skipIf(!isInstalled)(`forwards everything but what concerns one connection, with ${name}`, async () => {
    const api = await start()
    const { url } = await startProxy(`${api}/v1`)

    const received = {
      target: '/v1/echo',
      host: new URL(api).host,
      authorization: expect.stringMatching(/^Bearer token-1-/),
      'accept-encoding': 'gzip',
      cookie: 'a=1; b=2',
      'x-end': 'Zo\xEB',
      'x-multi': showsAll ? 'one, two' : 'one',
    }
    const path = "/echo/a%2Fb;c/../d?q='1'&r=%2f"
    const fields = [...oddRequestFields, `Referer: ${url.href}`]
    const target = "/v1/echo/d?q='1'&r=%2f"
    expect(readEcho(await send(url, 'OPTIONS', path, fields))).toEqual({
      ...received,
      method: 'OPTIONS',
      target,
    })

    for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND']) {
      const withBody = { ...received, method, ...(showsAll && { body: 'body' }) }
      const known = [...fields, 'Expect: 100-continue', 'Content-Length: 4']
      const echo = readEcho(await send(url, method, '/echo', known, 'body'))
      expect(echo).toEqual({ ...withBody, 'content-length': '4' })
      const chunked = [...fields, 'Transfer-Encoding: chunked']
      const chunks = '4\r\nbody\r\n0\r\nX-Trailer: x\r\n\r\n'
      expect(readEcho(await send(url, method, '/echo', chunked, chunks))).toEqual(withBody)
    }

    const [head = '', body = ''] = (await send(url, 'GET', '/odd', ['Connection: close'])).split(
      /\r\n\r\n(.*)/s,
    )
    const [status, ...sent] = head.toLowerCase().split('\r\n')
    expect(status).toBe('http/1.1 200 ok')
    const added = /^(?:accept-ranges|content-(?:length|type)|date|etag|last-modified|server): /
    expect(sent.filter((field) => !added.test(field)).toSorted()).toEqual([
      'connection: close',
      'content-encoding: gzip',
      `location: ${url.pathname.toLowerCase()}/next?a=%2f'b`,
      'set-cookie: a=1',
      'set-cookie: b=2',
      ...(sent.includes('transfer-encoding: chunked') ? ['transfer-encoding: chunked'] : []),
      'x-end: zo\xEB',
    ])
    expect(body).toContain(oddBody.toString('latin1'))

    const withoutBody = await send(url, 'HEAD', '/echo', ['Connection: close'])
    expect(withoutBody).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s)
  })
  if (!isInstalled) it.skip(`${name} needs: apt-get install ${name === 'Go' ? 'golang-go' : name}`, () => {})
}
