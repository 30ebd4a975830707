import { describe, expect, it } from 'vitest'
import { forwardedFields, locationThroughProxy, pathBelow } from '../../src/proxy/forwarding-rules.ts'
import { canResolveOutside } from './path-readers.ts'

const target = new URL('https://api.test/v1/')

describe('pathBelow', () => {
  it.each([
    ['', '/v1'],
    ['/', '/v1/'],
    ['/orders', '/v1/orders'],
    ['?page=2', '/v1?page=2'],
    ['/a?b=/../c#d', '/v1/a?b=/../c'],
    ['/a?q=\'"{}%zz&x', '/v1/a?q=\'"{}%zz&x'],
    ['/a/../b', '/v1/b'],
    ['/a/%2e%2e/b', '/v1/b'],
    ['/a/./b', '/v1/a/b'],
    ['/group%2fproject', '/v1/group%2fproject'],
    ['/a;x=1/b', '/v1/a;x=1/b'],
    ['/a..b/..c/d..', '/v1/a..b/..c/d..'],
    ['/a%20b+c/', '/v1/a%20b+c/'],
    ['/caf%C3%A9', '/v1/caf%C3%A9'],
    ['/%E6%88%90%E5%8A%9F', '/v1/%E6%88%90%E5%8A%9F'],
    ['/100%25', '/v1/100%25'],
    ['//evil.test/', '/v1//evil.test/'],
    ['/@evil.test', '/v1/@evil.test'],
  ])('sends %j to %j', (rest, path) => {
    expect(pathBelow(target, rest)).toBe(path)
    expect(canResolveOutside(path, '/v1')).toBe(false)
  })

  it.each([
    '/..',
    '/../v2',
    '/a/../../v2',
    '/..?a',
    '/..\\v2',
    '/..%2fv2',
    '/..%2Fv2',
    '/..%5cv2',
    '/..;/v2',
    '/..;x=1/v2',
    '/a/..;/..;/v2',
    '/.%252e/v2',
    '/%252e%252e%252fv2',
    '/%25252e%25252e/v2',
    `/%${'25'.repeat(50)}2e.`,
    '/..%00/v2',
    '/..%00x/v2',
    '/.%09./v2',
    '/..%20/v2',
    '/..+/v2',
    '/..%3fv2',
    '/..%23v2',
    '/..%3b%2fv2',
    '/%u002e%u002e/v2',
    '/..%u2215v2',
    '/%c0%ae%c0%ae/v2',
    '/%c0%2e%c0%2e/v2',
    '/..%c0%afv2',
    '/..%c1%9cv2',
    '/%e0%80%ae%e0%80%ae/v2',
    '/%f0%80%80%ae%f0%80%80%ae/v2',
    '/%ef%bc%8e%ef%bc%8e/v2',
    '/%e2%80%a5/v2',
    '/..%ef%bc%8fv2',
    '/..%e2%88%95v2',
    '/..%c2%a5v2',
    '/.%ff./v2',
    '/.%c2%ad./v2',
    '/.%c0%af./v2',
    '/%c1%aa../v2',
    '/%ef%bc%85%ef%bc%92e./v2',
    '/.. ./v2',
    '/a%0ab',
    '/caf%e9',
  ])('sends %j nowhere', (rest) => {
    expect(pathBelow(target, rest)).toBeUndefined()
  })

  it('never sends a path to another host', () => {
    for (const rest of [
      '@evil.test/',
      ':99999/',
      '.evil.test/',
      ':80@evil.test/',
      '\\@evil.test',
      '/\\evil.test',
    ])
      expect([undefined, '/', '//evil.test', '/@evil.test']).toContain(
        pathBelow(new URL('https://api.test'), rest),
      )
  })
})

describe('locationThroughProxy', () => {
  it.each([
    ['/v1/next', '/secret/next'],
    ['/v1', '/secret'],
    ['https://api.test/v1?x=1', '/secret?x=1'],
    ['https://api.test/v1/next?a=%2f\'"&b=é#c', '/secret/next?a=%2f\'"&b=é#c'],
    ['next?x=1', '/secret/next?x=1'],
    ['?x=1', '/secret/orders?x=1'],
    ["/v2?a='", "https://api.test/v2?a='"],
    ['../v10', 'https://api.test/v10'],
    ['/v1/../v2', 'https://api.test/v2'],
    ['http://api.test/v1', 'http://api.test/v1'],
    ['https://api.test:8443/v1', 'https://api.test:8443/v1'],
    ['//evil.test/v1', 'https://evil.test/v1'],
    ['app:callback?x', 'app:callback?x'],
    ['http://[bad', 'http://[bad'],
    [Buffer.from('/v1/報告').toString('latin1'), '/secret/%E5%A0%B1%E5%91%8A'],
  ])('changes %j to %j', (location, expected) => {
    expect(locationThroughProxy(location, '/v1/orders', { target, base: '/secret' })).toBe(expected)
  })
})

it('forwards no field of one connection, and each repeated field as often as it was sent', () => {
  const fields = {
    Connection: 'close, X-One , ,x-two',
    'keep-alive': 'timeout=5',
    TE: 'trailers',
    Trailer: 'x',
    'Transfer-Encoding': 'chunked',
    Upgrade: 'h2c',
    'Proxy-Connection': 'keep-alive',
    'Proxy-Authorization': 'Basic x',
    'Proxy-Authenticate': 'Basic',
    'Proxy-Authentication-Info': 'x',
    'X-One': '1',
    'x-TWO': '2',
    'X-Three': '3',
  }
  const raw = [
    'Set-Cookie',
    'a=1',
    ...Object.entries(fields).flat(),
    'connection',
    'X-Three',
    'set-cookie',
    'b=2',
    '__proto__',
    'x',
  ]
  expect(forwardedFields(raw)).toEqual([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['__proto__', 'x'],
  ])
})
