const { once } = require('node:events')
const { get } = require('node:http')
const { json } = require('node:stream/consumers')
const { createLocalJWKSet, exportJWK, exportSPKI, generateKeyPair, jwtVerify, SignJWT } = require('jose')
const { audience, createOrdersApi, issuer } = require('../orders-api')

let keys
let jwk
let server
beforeAll(async () => {
  keys = await generateKeyPair('RS256')
  jwk = { ...(await exportJWK(keys.publicKey)), kid: '1', alg: 'RS256', use: 'sig' }
  // The address is a string, as in the tests that many projects have.
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (url) => {
    if (url.endsWith('/keys')) return new Response(JSON.stringify({ keys: [jwk] }))
    throw new Error(`No response for ${url}`)
  })
  const users = new Map([['ada', { name: 'Ada' }]])
  const api = createOrdersApi({ pem: await exportSPKI(keys.publicKey), users })
  server = api.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const sign = (subject, key = keys.privateKey) =>
  new SignJWT({ client_id: 'page' })
    .setProtectedHeader({ alg: 'RS256', kid: '1', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setJti('1')
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(key)

async function send(path, token) {
  const options = {
    port: server.address().port,
    path,
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  }
  const [response] = await once(get({ host: '127.0.0.1', ...options }), 'response')
  if (response.statusCode !== 200) return response.resume().statusCode
  return json(response)
}

test('the same token is accepted by Passport and by Tokenwell, which find the same user', async () => {
  const token = await sign('ada')
  expect(await send('/passport', token)).toEqual({ name: 'Ada' })
  expect(await send('/tokenwell', token)).toEqual({ name: 'Ada' })
  expect(await send('/both', token)).toEqual({ user: { name: 'Ada' }, client: 'page' })
})

test('both reject an unknown user, and a token that another key has signed', async () => {
  const unknown = await sign('eve')
  const foreign = await sign('ada', (await generateKeyPair('RS256')).privateKey)
  for (const path of ['/passport', '/tokenwell', '/both']) {
    expect([path, await send(path, unknown)]).toEqual([path, 401])
    expect([path, await send(path, foreign)]).toEqual([path, 401])
  }
})

test('jose 4 stays what the project itself loads', async () => {
  expect(require('jose/package.json').version).toMatch(/^4\./)
  const { payload } = await jwtVerify(await sign('ada'), createLocalJWKSet({ keys: [jwk] }))
  expect(payload.sub).toBe('ada')
})
