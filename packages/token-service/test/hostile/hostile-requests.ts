import { connect } from 'node:net'
import { createRandom } from '@tokenwell/internal-testing/random'
import { application, tokenPath } from '../test-service.ts'

type Random = () => number

const below = (random: Random, limit: number) => Math.floor(random() * limit)
const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[below(random, items.length)] as Item

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => below(random, 256)))
}

function valid(random: Random): Buffer {
  const { clientId, clientSecret } = application
  const body = `client_id=${clientId}&client_secret=${random() < 0.5 ? clientSecret : 'wrong'}&token=x`
  const path = pick(random, [
    `${tokenPath}?grant_type=client_credentials`,
    '/oauth/introspect',
    '/oauth/revoke',
  ])
  return post(path, body)
}

function post(path: string, body: string | Buffer, headers: string = '', method = 'POST'): Buffer {
  const head =
    `${method} ${path} HTTP/1.1\r\nhost: x\r\n` +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n${headers}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
}

function mutated(random: Random): Buffer {
  const request = [...valid(random)]
  for (let change = 0; change <= below(random, 8); change += 1) {
    const at = below(random, request.length)
    const kind = below(random, 4)
    if (kind === 0) request[at] = below(random, 256)
    else if (kind === 1) request.splice(at, below(random, 20))
    else if (kind === 2) request.splice(at, 0, ...bytes(random, below(random, 20)))
    else request.splice(at, 0, ...request.slice(at, at + below(random, 40)))
  }
  return Buffer.from(request)
}

const url = `${tokenPath}?grant_type=client_credentials`
const kinds: readonly ((random: Random) => Buffer)[] = [
  mutated,
  mutated,
  mutated,
  (random) => bytes(random, below(random, 2_000)),
  (random) => Buffer.concat(Array.from({ length: 1 + below(random, 20) }, () => valid(random))),
  (random) => Buffer.concat([valid(random), mutated(random), valid(random)]),
  (random) => post(url, bytes(random, below(random, 5_000))),
  (random) => post(url, 'a=b&'.repeat(below(random, 12_000))),
  (random) => post(url, `client_id=${'%41'.repeat(below(random, 6_000))}`),
  (random) => post(url, '', `x: ${'y'.repeat(below(random, 20_000))}\r\n`),
  (random) => post(`/${'a/'.repeat(below(random, 6_000))}`, ''),
  (random) => post(`${url}&${'grant_type=client_credentials&'.repeat(below(random, 200))}`, ''),
  (random) => post(url, '', `authorization: Basic ${bytes(random, 40).toString('base64')}\r\n`),
  (random) => post(url, '{}', '', pick(random, ['GET', 'PUT', 'TRACE', 'PROPFIND', 'CONNECT', '\u00fc'])),
  (random) =>
    post(pick(random, ['//', '/%00', '/..%2f..', '/healthz', '/openapi.yaml', '/metrics', '*']), ''),
  (random) =>
    Buffer.from(
      `POST ${url} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${pick(random, ['zz\r\n', '-1\r\n\r\n', 'ffffffffff\r\n', '5\r\nab\r\n0\r\n\r\n'])}`,
    ),
  (random) => post(url, 'client_id=a', `content-length: ${below(random, 100)}\r\n`),
]

function hostileRequest(random: Random): Buffer {
  return pick(random, kinds)(random)
}

/** Sends a request, disconnects or waits for the responses, and returns their statuses. */
function send(authUrl: string, request: Buffer, random: Random): Promise<number[]> {
  const { hostname, port } = new URL(authUrl)
  const breakOff = random() < 0.1
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => {
      socket.write(request)
      if (breakOff) socket.destroy()
      else socket.end()
    })
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => {
      resolve([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))
    })
  })
}

/** Sends many requests, a few at a time; returns the number of responses with each status. */
export async function attack(authUrl: string, count: number, seed: number): Promise<Map<number, number>> {
  const random = createRandom(seed)
  const statuses = new Map<number, number>()
  let left = count
  async function attacker(): Promise<void> {
    while (left > 0) {
      left -= 1
      for (const status of await send(authUrl, hostileRequest(random), random)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
  }
  await Promise.all(Array.from({ length: 20 }, attacker))
  return statuses
}
