import { once } from 'node:events'
import { createServer } from 'node:https'
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily, type AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPublicFetch, type PublicFetchOptions } from '../../src/runtime/public-fetch.ts'

const host = 'keys.example.com'
const { private: key, cert } = await generate([{ name: 'commonName', value: host }], {
  keySize: 2048,
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
})

/** A resolver that knows `host` by these addresses. */
function resolver(...addresses: string[]): PublicFetchOptions['lookup'] {
  return (name, _options, callback) => {
    expect(name).toBe(host)
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}

async function keyServer(status = 200) {
  const requested: (string | undefined)[] = []
  const server = createServer({ key, cert }, (request, response) => {
    expect(request.headers.accept).toBe('application/json')
    requested.push(request.url)
    response.writeHead(status, { location: '/elsewhere' }).write('{"keys":[]}')
    if (status !== 500) response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { requested, server, url: `https://${host}:${(server.address() as AddressInfo).port}/jwks.json` }
}

describe('the keys of a client', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ])('are not fetched from %s', async (address) => {
    const literal = `https://${address.includes(':') ? `[${address}]` : address}/`
    const fetchKeys = createPublicFetch({
      setting: 'jwksAllowedHosts',
      allowedHosts: [],
      lookup: resolver('8.8.8.8', address),
    })
    await expect(fetchKeys(`https://${host}/`, {})).rejects.toThrow('internal address')
    await expect(fetchKeys(literal, {})).rejects.toThrow('internal address')
  })

  it.each([[host], ['127.0.0.1'], ['192.0.2.0/24', '127.0.0.0/8']])(
    'are fetched from %s if it is allowed',
    async (...allowedHosts) => {
      const { url, requested } = await keyServer()
      const fetchKeys = createPublicFetch({
        setting: 'jwksAllowedHosts',
        allowedHosts,
        lookup: resolver('127.0.0.1'),
        ca: cert,
      })
      expect(await (await fetchKeys(url, {})).json()).toEqual({ keys: [] })
      expect(requested).toEqual(['/jwks.json'])
    },
  )

  it('are fetched from the first address by a program that tries only one', async () => {
    const before = getDefaultAutoSelectFamily()
    setDefaultAutoSelectFamily(false)
    onTestFinished(() => setDefaultAutoSelectFamily(before))
    const { url } = await keyServer()
    const fetchFrom = (...addresses: string[]) =>
      createPublicFetch({
        setting: 'jwksAllowedHosts',
        allowedHosts: [host],
        lookup: resolver(...addresses),
        ca: cert,
      })(url, {})
    expect((await fetchFrom('127.0.0.1', '192.0.2.1')).status).toBe(200)
    await expect(fetchFrom()).rejects.toThrow(/Invalid IP address/)
  })

  it('are not fetched from the target of a redirect', async () => {
    const { url, requested } = await keyServer(302)
    const fetchKeys = createPublicFetch({
      setting: 'jwksAllowedHosts',
      allowedHosts: [host],
      lookup: resolver('127.0.0.1'),
      ca: cert,
    })
    await expect(fetchKeys(url, {})).rejects.toThrow('responded with status 302')
    expect(requested).toEqual(['/jwks.json'])
  })

  it('are not read from a response with an error, and its connection is closed', async () => {
    const { server, url } = await keyServer(500)
    const connected = once(server, 'secureConnection')
    const fetchKeys = createPublicFetch({
      setting: 'jwksAllowedHosts',
      allowedHosts: [host],
      lookup: resolver('127.0.0.1'),
      ca: cert,
    })
    await expect(fetchKeys(url, {})).rejects.toThrow('responded with status 500')
    const [socket] = await connected
    if (!socket.closed) await once(socket, 'close')
  })

  it.each([201, 202, 204, 205, 299])('may come with status %i', async (status) => {
    const { url } = await keyServer(status)
    const fetchKeys = createPublicFetch({
      setting: 'jwksAllowedHosts',
      allowedHosts: [host],
      lookup: resolver('127.0.0.1'),
      ca: cert,
    })
    expect((await fetchKeys(url, {})).status).toBe(status)
  })

  it('are not fetched if the request is aborted', async () => {
    const { url } = await keyServer()
    const fetchKeys = createPublicFetch({
      setting: 'jwksAllowedHosts',
      allowedHosts: [host],
      lookup: resolver('127.0.0.1'),
      ca: cert,
    })
    await expect(fetchKeys(url, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})
