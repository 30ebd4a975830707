/** A generator of numbers from 0 to 1. */
export type Random = () => number

type Maker = (random: Random) => string

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!
}

function upTo(random: Random, max: number): number {
  return Math.floor(random() * (max + 1))
}

function repeat(random: Random, max: number, make: Maker): string {
  return Array.from({ length: upTo(random, max) }, () => make(random)).join('')
}

function bytes(random: Random, max: number): string {
  return repeat(random, max, () => String.fromCharCode(upTo(random, 255)))
}

const pathParts = [
  '/',
  '/',
  '/',
  '/',
  '//',
  '\\',
  '..',
  '..',
  '.',
  'a',
  'a',
  'orders',
  'orders',
  'admin',
  'x-',
  '1',
  '_',
  '%20',
  ';',
  ';x=1',
  '?',
  '#',
  '@evil.test',
  ':1',
  '+',
  '%',
  '%2e',
  '%2E',
  '%2f',
  '%5c',
  '%252e',
  '%252f',
  '%25252e',
  '%c0%ae',
  '%c0%af',
  '%e0%80%af',
  '%c0%2e',
  '%c1%9c',
  '%u002e',
  '%u2215',
  '%00',
  '%09',
  '%20',
  '%0d%0a',
  '%3b',
  '%3f',
  '%23',
  '%ff',
  '%zz',
  '%ef%bc%8f',
  '%ef%bc%8e',
  '%e2%80%a5',
  '%e2%82%a9',
  '%e2%88%95',
  '%ef%bc%85',
  'é',
  '\x01',
  '{',
  '|',
]

const oddFields: readonly Maker[] = [
  () => 'Host: evil.test',
  () => 'Connection: close, X-One, content-length, host, authorization',
  () => 'Connection: keep-alive, Upgrade',
  () => 'Upgrade: h2c',
  () => 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
  () => 'Transfer-Encoding: chunked',
  () => 'Transfer-Encoding: gzip, chunked',
  () => 'Transfer-Encoding : chunked',
  () => 'Transfer-Encoding:\x0bchunked',
  (random) =>
    `Content-Length: ${pick(random, ['0', '3', '4', '+4', '-1', '4, 4', '1e3', '0x4', '', '18446744073709551616'])}`,
  () => 'Expect: 100-continue',
  () => 'Expect: the-unexpected',
  () => 'TE: trailers, deflate',
  () => 'Trailer: X-One',
  () => '__proto__: x',
  () => 'constructor: x',
  () => 'toString: x',
  () => 'Authorization: Bearer of-the-client',
  () => 'Proxy-Authorization: Basic eDp4',
  () => 'Cookie: a=1\r\nCookie: b=2',
  () => 'Content-Encoding: gzip',
  () => 'Content-Type: application/json',
  () => 'Location: http://[bad',
  (random) =>
    `Location: ${pick(random, ['', '/v1?a=b', '//evil.test', '..', 'javascript:1', '\xff', 'http://127.0.0.1:99999/'])}`,
  () => 'Set-Cookie: a=1\r\nSet-Cookie: b=2',
  () => 'WWW-Authenticate: Bearer error="invalid_token"',
  () => 'WWW-Authenticate: Bearer error="insufficient_scope", scope="\xe9',
  () => 'X-Bytes: \xe5\xa0\xb1\xff',
  () => 'X-Folded: a\r\n b',
  (random) => `X-Long: ${'a'.repeat(upTo(random, 20_000))}`,
  (random) => `X-Random: ${bytes(random, 20)}`,
  (random) => bytes(random, 20),
]

function body(random: Random): string {
  return pick<Maker>(random, [
    () => '',
    () => 'body',
    () => '4\r\nbody\r\n0\r\n\r\n',
    () => '4\r\nbody\r\n0\r\nX-Trailer: a\r\n\r\n',
    () => 'ffffffffffffffffff\r\nbody',
    () => '4;a=b\nbody\r\n0\r\n\r\n',
    () => '0\r\n\r\nGET /v1/../admin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    () => '{"fault":{"faultstring":"Invalid access token"}}',
    () => bytes(random, 200),
  ])(random)
}

/** One value or, now and then, one of the others. */
function rarely<Value>(random: Random, usual: Value, odd: readonly Value[]): Value {
  return random() < 0.9 ? usual : pick(random, odd)
}

function oddFieldsOf(random: Random, max: number): string[] {
  return random() < 0.5
    ? []
    : Array.from({ length: upTo(random, max) }, () => pick(random, oddFields)(random))
}

/** @param base the path of the proxy @param host its host and port */
export function oddRequest(random: Random, base: string, host: string): string {
  if (random() < 0.02) return bytes(random, 500)
  const method = rarely(
    random,
    pick(random, ['GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'QUERY']),
    ['TRACE', 'CONNECT', 'get', 'M-SEARCH'],
  )
  const path =
    base + rarely(random, '/', ['', '?', '//', '\\']) + repeat(random, 6, () => pick(random, pathParts))
  const target = rarely(random, path, [
    `http://${host}${path}`,
    `http://evil.test${path}`,
    '*',
    path.slice(1),
  ])
  const version = rarely(random, '1.1', ['1.0', '2.0', '0.9'])
  const port = host.split(':')[1]!
  const content = body(random)
  const fields = [
    `Host: ${rarely(random, host, [`localhost:${port}`, 'evil.test', `${host}:80`])}`,
    'Connection: close',
    ...(random() < 0.7 ? [`Content-Length: ${content.length}`] : []),
    ...oddFieldsOf(random, 3),
  ]
  return `${method} ${target} HTTP/${version}\r\n${fields.join('\r\n')}\r\n\r\n${content}`
}

export function oddResponse(random: Random): string {
  if (random() < 0.05) return bytes(random, 500)
  const status = rarely(
    random,
    pick(random, [
      '200',
      '200',
      '201',
      '206',
      '301',
      '302',
      '400',
      '401',
      '401',
      '403',
      '404',
      '407',
      '429',
      '500',
      '503',
      '600',
      '999',
    ]),
    ['204', '304', '205', '101', '103', '099', '000', '20x'],
  )
  const reason = pick(random, [
    ' OK',
    '',
    ' ',
    ' \xe6\x88\x90\xe5\x8a\x9f',
    ' P\xe1gina',
    ` ${bytes(random, 20)}`,
    ` ${'x'.repeat(upTo(random, 5_000))}`,
  ])
  const content = body(random)
  const fields = [
    `${rarely(random, 'HTTP/1.1', ['HTTP/1.0', 'HTTP/2.0', 'ICY', 'http/1.1'])} ${status}${reason}`,
    ...(random() < 0.7 ? [`Content-Length: ${content.length}`] : []),
    ...oddFieldsOf(random, 4),
  ]
  const early = rarely(random, '', ['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'])
  return `${early}${fields.join(rarely(random, '\r\n', ['\n']))}\r\n\r\n${content}`
}
