// JWTs of our service in other verifiers, and hostile JWTs in ours and in theirs. `--write` renews the table of the documentation; `--print` prints all rows.
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import fastifyJwt from '@fastify/jwt'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { startTokenService } from '@tokenwell/token-service'
import express from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import fastify from 'fastify'
import { createRemoteJWKSet, exportSPKI, importJWK, jwtVerify } from 'jose'

const audience = 'https://api.example.com'
const issuer = 'https://auth.example.com'
const otherIssuer = 'https://other.example.com'

function createKey(kid, algorithm = 'ES256') {
  const pair =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }
  return { ...pair, kid, algorithm, jwk, pem: pair.publicKey.export({ format: 'pem', type: 'spki' }) }
}
const key = createKey('key-1')
const oldKey = createKey('key-0')
const strangersKey = createKey('key-1')
/** Of another issuer that is trusted as well, with a key ID that both use, and one of its own. */
const othersKey = createKey('key-1')
const othersOwnKey = createKey('other-1')

const base64 = (value) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const signatureOf = (input, { privateKey, algorithm }, dsaEncoding = 'ieee-p1363') =>
  sign('sha256', input, algorithm === 'RS256' ? privateKey : { key: privateKey, dsaEncoding }).toString(
    'base64url',
  )
const hmac = (input, secret, hash = 'sha256') => createHmac(hash, secret).update(input).digest('base64url')

const now = Math.floor(Date.now() / 1000)
const claims = {
  iss: issuer,
  sub: 'orders',
  client_id: 'orders',
  aud: audience,
  iat: now,
  exp: now + 300,
  jti: 'b9a1',
  scope: 'orders:read',
}
const header = { alg: 'ES256', typ: 'at+jwt', kid: 'key-1' }
const without = (name, from) => Object.fromEntries(Object.entries(from).filter(([each]) => each !== name))

/** A signed JWT of texts or objects. */
function jwt(changedHeader = {}, changedClaims = {}, signer = key) {
  const input = `${base64(typeof changedHeader === 'string' ? changedHeader : { ...header, ...changedHeader })}.${base64(typeof changedClaims === 'string' ? changedClaims : { ...claims, ...changedClaims })}`
  return `${input}.${signatureOf(input, signer)}`
}
const unsigned = (alg, signature = '') => `${base64({ ...header, alg })}.${base64(claims)}.${signature}`
const withHmac = (alg, secret, hash) => {
  const input = `${base64({ ...header, alg })}.${base64(claims)}`
  return `${input}.${hmac(input, secret, hash)}`
}
const valid = jwt()
const [validHeader, validClaims, validSignature] = valid.split('.')

/** What is presented, and whether an API may accept it. */
const cases = [
  ['a valid token', valid, true],
  ['`aud` is a list that contains the API', jwt({}, { aud: ['https://x.example.com', audience] }), true],
  [
    'a valid token of another trusted issuer',
    jwt({ kid: 'other-1' }, { iss: otherIssuer }, othersOwnKey),
    'ours',
  ],
  [
    'a valid token of another trusted issuer, whose key ID both use',
    jwt({}, { iss: otherIssuer }, othersKey),
    'ours',
  ],

  ['`alg: none`, without a signature', unsigned('none')],
  ['`alg: none`, with the signature of a valid token', unsigned('none', validSignature)],
  ['`alg: None`', unsigned('None')],
  ['`alg: NONE`', unsigned('NONE')],
  ['`alg` is empty', unsigned('', validSignature)],
  ['`alg` is null', unsigned(null, validSignature)],
  ['`alg` is a list', unsigned(['ES256'], validSignature)],
  ['no `alg`', `${base64(without('alg', header))}.${validClaims}.${validSignature}`],
  ['HS256 with the public key (PEM)', withHmac('HS256', key.pem)],
  ['HS384 with the public key (PEM)', withHmac('HS384', key.pem, 'sha384')],
  ['HS512 with the public key (PEM)', withHmac('HS512', key.pem, 'sha512')],
  ['HS256 with the public key (JWK)', withHmac('HS256', JSON.stringify(key.jwk))],
  ['HS256 with the key ID', withHmac('HS256', 'key-1')],
  ['HS256 with an empty secret', withHmac('HS256', '')],
  ['`alg: RS256` over a signature of ES256', jwt({ alg: 'RS256' })],
  ['`alg: ES384` over a signature of ES256', jwt({ alg: 'ES384' })],
  ['`alg: es256`', jwt({ alg: 'es256' })],
  ['RS256 with a key of a stranger', jwt({ alg: 'RS256' }, {}, createKey('key-1', 'RS256'))],

  ['no signature', `${validHeader}.${validClaims}.`],
  ['a signature of zeros', `${validHeader}.${validClaims}.${Buffer.alloc(64).toString('base64url')}`],
  ['half a signature', `${validHeader}.${validClaims}.${validSignature.slice(0, 43)}`],
  ['a signature with another byte at its end', `${valid}AA`],
  [
    'a signature in DER',
    `${validHeader}.${validClaims}.${signatureOf(`${validHeader}.${validClaims}`, key, 'der')}`,
  ],
  [
    'the signature of another token',
    `${validHeader}.${base64({ ...claims, sub: 'admin' })}.${validSignature}`,
  ],
  ['the header of another token', `${base64({ ...header, x: 1 })}.${validClaims}.${validSignature}`],
  ['signed by a stranger with the same key ID', jwt({}, {}, strangersKey)],
  ['signed with an old key that is no longer published', jwt({ kid: 'key-0' }, {}, oldKey)],
  ['signed with an old key, under the present key ID', jwt({}, {}, oldKey)],

  ['a key of its own in the header (`jwk`)', jwt({ jwk: strangersKey.jwk }, {}, strangersKey)],
  ['a key of its own, without a key ID', jwt({ kid: undefined, jwk: strangersKey.jwk }, {}, strangersKey)],
  ['`jku` of a stranger', jwt({ jku: 'http://127.0.0.1:9/keys' }, {}, strangersKey)],
  ['`x5u` of a stranger', jwt({ x5u: 'http://127.0.0.1:9/cert' }, {}, strangersKey)],
  ['`x5c` of a stranger', jwt({ x5c: ['MIIB'] }, {}, strangersKey)],
  ['an unknown key ID', jwt({ kid: 'key-2' }, {}, strangersKey)],
  ['a key ID that is a path', jwt({ kid: '../../../dev/null' }, {}, strangersKey)],
  ['a key ID that is SQL', jwt({ kid: "' OR 1=1 --" }, {}, strangersKey)],
  ['a key ID that is a number', jwt({ kid: 1 }, {}, strangersKey)],
  ['`__proto__` as key ID', jwt({ kid: '__proto__' }, {}, strangersKey)],
  ['an unknown critical header (`crit`)', jwt({ crit: ['x'], x: 1 })],
  ['an empty list of critical headers', jwt({ crit: [] })],
  ['`b64: false` without `crit`, which has no meaning (RFC 7797)', jwt({ b64: false }), true],
  ['the key of another trusted issuer, with this `iss`', jwt({ kid: 'other-1' }, {}, othersOwnKey)],
  ['the key of another trusted issuer, which has this key ID', jwt({}, {}, othersKey)],
  ['the key of this issuer, with the `iss` of another', jwt({}, { iss: otherIssuer })],

  ['no `typ`', jwt({ typ: undefined })],
  ['`typ: JWT`, as ID tokens have', jwt({ typ: 'JWT' })],
  [
    'an ID token',
    jwt({ typ: 'JWT' }, { ...without('scope', claims), nonce: 'n', at_hash: 'x', aud: 'client' }),
  ],
  ['a client assertion', jwt({ typ: 'JWT' }, { iss: 'orders', sub: 'orders', aud: issuer })],
  ['a DPoP proof (`typ: dpop+jwt`)', jwt({ typ: 'dpop+jwt' })],
  ['a logout token (`typ: logout+jwt`)', jwt({ typ: 'logout+jwt' })],
  ['a security event (`typ: secevent+jwt`)', jwt({ typ: 'secevent+jwt' })],

  ['no `iss`', jwt({}, { iss: undefined })],
  ['`iss` of a stranger', jwt({}, { iss: 'https://evil.example.com' })],
  ['`iss` with a slash at its end', jwt({}, { iss: `${issuer}/` })],
  ['`iss` in capitals', jwt({}, { iss: issuer.toUpperCase() })],
  ['`iss` is a list', jwt({}, { iss: [issuer] })],
  ['`iss` is a prefix of the issuer', jwt({}, { iss: issuer.slice(0, -1) })],

  ['no `aud`', jwt({}, { aud: undefined })],
  ['`aud` of another API', jwt({}, { aud: 'https://other-api.example.com' })],
  ['`aud` is an empty list', jwt({}, { aud: [] })],
  ['`aud` is a list of other APIs', jwt({}, { aud: ['https://x.example.com', `${audience}/v2`] })],
  ['`aud` with a slash at its end', jwt({}, { aud: `${audience}/` })],
  ['`aud` in capitals', jwt({}, { aud: audience.toUpperCase() })],
  ['`aud` is an object', jwt({}, { aud: { [audience]: true } })],
  ['`aud` is true', jwt({}, { aud: true })],
  ['`aud` is a list within a list', jwt({}, { aud: [[audience]] })],

  ['expired an hour ago', jwt({}, { exp: now - 3600 })],
  ['no `exp`', jwt({}, { exp: undefined })],
  ['`exp` is a text', jwt({}, { exp: String(now + 300) })],
  ['`exp` is null', jwt({}, { exp: null })],
  ['`exp: 1e300`', jwt({}, { exp: 1e300 })],
  ['`exp` is negative', jwt({}, { exp: -1 })],
  ['not valid before tomorrow (`nbf`)', jwt({}, { nbf: now + 86_400 })],
  ['`nbf` is a text', jwt({}, { nbf: 'tomorrow' })],
  ['no `sub`', jwt({}, { sub: undefined })],
  ['no `client_id`', jwt({}, { client_id: undefined })],
  ['no `jti`', jwt({}, { jti: undefined })],
  ['no `iat`', jwt({}, { iat: undefined })],

  [
    '`exp` twice, the second time in the past',
    jwt({}, JSON.stringify(claims).replace(/}$/, `,"exp":${now - 3600}}`)),
  ],
  [
    '`iss` twice, the second time a stranger',
    jwt({}, JSON.stringify(claims).replace(/}$/, ',"iss":"https://evil.example.com"}')),
  ],
  [
    '`alg` twice, the second time `none`',
    `${base64(JSON.stringify(header).replace(/}$/, ',"alg":"none"}'))}.${validClaims}.`,
  ],
  ['claims are a list', jwt({}, '[]')],
  ['claims are null', jwt({}, 'null')],
  ['claims are a text', jwt({}, '"text"')],
  ['claims are not JSON', jwt({}, '{"iss":')],
  ['the header is not JSON', jwt('{"alg":')],
  ['the header is a list', jwt('[]')],
  ['two parts', `${validHeader}.${validClaims}`],
  ['four parts', `${valid}.${validSignature}`],
  ['five parts, as an encrypted token has', `${validHeader}.${validClaims}.${validSignature}.a.b`],
  ['padding', `${validHeader}=.${validClaims}.${validSignature}`],
  ['a token in a token', jwt({ cty: 'JWT' }, JSON.stringify(valid))],
]

const keySet = { keys: [key.jwk] }
const keys = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(keySet))
}).listen(0, '127.0.0.1')
await once(keys, 'listening')
const jwksUri = `http://127.0.0.1:${keys.address().port}/keys`

/** As the documentation of each verifies the tokens of one issuer; ours, those of two. */
async function startApis(given) {
  const ours = express().get('/', requireToken(createTokenVerifier(given.ours)), (_request, response) =>
    response.end('ok'),
  )
  const theirs = express().get(
    '/',
    auth({ issuer: given.issuer, jwksUri: given.jwksUri, audience }),
    (_request, response) => response.end('ok'),
  )
  // Express prints errors.
  const quiet = (error, _request, response, _next) => response.status(error.status ?? 500).end()
  theirs.use(quiet)
  const plugin = fastify()
  const verify = { allowedIss: given.issuer, allowedAud: audience, algorithms: ['ES256'] }
  await plugin.register(fastifyJwt, { secret: { public: given.pem }, verify })
  plugin.get('/', { onRequest: (request) => request.jwtVerify() }, async () => 'ok')
  await plugin.listen({ port: 0, host: '127.0.0.1' })
  const servers = [ours.listen(0, '127.0.0.1'), theirs.listen(0, '127.0.0.1'), plugin.server]
  await Promise.all(servers.slice(0, 2).map((server) => once(server, 'listening')))
  return {
    async call(token) {
      const headers = { authorization: `Bearer ${token}` }
      const urls = servers.map((server) => `http://127.0.0.1:${server.address().port}/`)
      return Promise.all(urls.map(async (url) => (await fetch(url, { headers })).status))
    },
    close() {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

const word = (status) => (status === 200 ? 'accepted' : status < 500 ? 'rejected' : `error ${status}`)

// The tokens of our service.
const application = {
  name: 'orders',
  clientId: 'orders',
  clientSecret: 'orders-secret-0123456789',
  tokenFormat: 'jwt',
  audiences: [audience],
}
const service = await startTokenService({ applications: [application] })
const issued = await fetch(
  `${service.authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`,
  {
    method: 'POST',
    body: new URLSearchParams({ client_id: application.clientId, client_secret: application.clientSecret }),
  },
)
const { access_token: token } = await issued.json()
const metadata = await (await fetch(`${service.authUrl}/.well-known/oauth-authorization-server`)).json()
const published = await (await fetch(metadata.jwks_uri)).json()
const current = published.keys.find(
  ({ kid }) => kid === JSON.parse(Buffer.from(token.split('.')[0], 'base64url')).kid,
)
await jwtVerify(token, createRemoteJWKSet(new URL(metadata.jwks_uri)), {
  issuer: metadata.issuer,
  audience,
  typ: 'at+jwt',
})
const ofService = await startApis({
  issuer: metadata.issuer,
  jwksUri: metadata.jwks_uri,
  pem: await exportSPKI(await importJWK(current, 'ES256')),
  ours: { issuer: metadata.issuer, audience },
})
assert.deepEqual(await ofService.call(token), [200, 200, 200])
const changed = token.replace(/(?<=\.)[^.](?=[^.]+$)/, (first) => (first === 'A' ? 'B' : 'A'))
assert.deepEqual(await ofService.call(changed), [401, 401, 401])
ofService.close()
await service.close()

const apis = await startApis({
  issuer,
  jwksUri,
  pem: key.pem,
  ours: {
    issuers: [
      { issuer, audience, jwksUrl: jwksUri },
      { issuer: otherIssuer, audience, jwks: { keys: [othersKey.jwk, othersOwnKey.jwk] } },
    ],
  },
})
const rows = []
const failures = []
for (const [what, presented, isValid = false] of cases) {
  const statuses = await apis.call(presented)
  rows.push([what, ...statuses.map(word)])
  if ((statuses[0] === 200) !== Boolean(isValid) || statuses[0] >= 500)
    failures.push(`${what}: ${statuses[0]}`)
}
apis.close()
keys.close()
keys.closeAllConnections()

const titles = ['what is presented', 'Tokenwell', 'express-oauth2-jwt-bearer', '@fastify/jwt']
// The page shows what some verifier accepts, and sums up the rest.
const shown = rows.filter((row) => row.includes('accepted'))
const cells = [titles, titles.map(() => '---'), ...shown]
const table = cells.map((row) => `| ${row.join(' | ')} |`).join('\n')
const page = new URL('../../../../docs/protect/hostile-jwts.md', import.meta.url)
const squeezed = (text) => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
if (existsSync(page)) {
  const text = readFileSync(page, 'utf8')
  if (process.argv.includes('--write'))
    writeFileSync(page, text.replace(/^\| what is presented.*\n(?:\|.*\n)*/m, `${table}\n`))
  else if (!squeezed(text).includes(`${table}\n\nAll three reject ${rows.length - shown.length} others`))
    failures.push('docs/protect/hostile-jwts.md differs: run this program with --write')
}
for (const failure of failures) console.error(failure)
const hostile = cases.filter(([, , isValid]) => !isValid).length
const accepted = [1, 2, 3].map(
  (column) => rows.filter((row, index) => !cases[index][2] && row[column] !== 'rejected').length,
)
console.log(
  `${hostile} hostile JWTs; not rejected by Tokenwell: ${accepted[0]}, express-oauth2-jwt-bearer: ${accepted[1]}, @fastify/jwt: ${accepted[2]}`,
)
if (process.argv.includes('--print')) console.log(rows.map((row) => row.join(' | ')).join('\n'))
process.exit(failures.length > 0 ? 1 : 0)
