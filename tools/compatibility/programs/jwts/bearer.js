// Requests to an API that express-oauth2-jwt-bearer protects, and to one that ours protects. `--write` renews the table of differences.
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import express from 'express'
import {
  auth,
  claimCheck,
  claimEquals,
  claimIncludes,
  requiredScopes,
  scopeIncludesAny,
} from 'express-oauth2-jwt-bearer'

const audience = 'https://api.example.com'
const keyOf = (kid) => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) })
const [key, strange] = [keyOf('key-1'), keyOf('key-1')]
const secret = 'a secret that the issuer and the API share'

const issuerServer = createServer(({ url }, response) => {
  const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' }
  const body =
    url === '/keys'
      ? { keys: [jwk] }
      : { issuer, jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: ['RS256'] }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}).listen(0, '127.0.0.1')
await once(issuerServer, 'listening')
const issuer = `http://127.0.0.1:${issuerServer.address().port}`

const now = Math.floor(Date.now() / 1000)
const claims = { iss: issuer, aud: audience, sub: 'me', iat: now, exp: now + 300 }
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const present = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
function token(changed = {}, header = {}, { privateKey } = key) {
  const all = { alg: 'RS256', typ: 'JWT', kid: key.kid, ...header }
  const input = `${encode(all)}.${encode(present({ ...claims, ...changed }))}`
  if (all.alg === 'none') return `${input}.`
  if (all.alg === 'HS256')
    return `${input}.${createHmac('sha256', header.secret ?? secret)
      .update(input)
      .digest('base64url')}`
  return `${input}.${sign('sha256', input, privateKey).toString('base64url')}`
}
const bearer = (value) => ({ headers: { authorization: `Bearer ${value}` } })
const atJwt = { client_id: 'client', jti: 'j' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const sends = (value) => ({ method: 'POST', headers: form, body: `access_token=${value}` })

const differences = {
  none: 'A request without credentials gets 401 and no error code (RFC 6750, section 3.1).',
  optional: 'An invalid token is a mistake, or an attack: it does not become an anonymous request.',
  symmetric:
    'Only keys with a public half: an API that shares the secret of its issuer could issue tokens itself.',
  body: 'A body is not read before the request is accepted (RFC 6750, section 2.2, discourages it).',
  query: 'URLs are logged (RFC 9700, section 2.1): a token in the query is not accepted.',
  twice: 'Node keeps the first of two headers; both are seen here.',
  forbidden: 'The token is valid, so a new one would not help: 403 (RFC 6750, section 3.1).',
  split: 'Text is split at spaces only in `scope` and `scp`.',
  least: 'The challenge names the first of the scopes: with all, a client would request more than it needs.',
}

/** Title, what express-oauth2-jwt-bearer is set up with, and ours; the request; whether and why the responses differ. */
const cases = [
  ['no token', {}, {}, {}],
  ['no token where it is optional', { auth: { authRequired: false } }, { require: { optional: true } }, {}],
  [
    'a malformed token where it is optional',
    { auth: { authRequired: false } },
    { require: { optional: true } },
    bearer('invalid.jwt'),
    'optional',
  ],
  [
    'an expired token where it is optional',
    { auth: { authRequired: false } },
    { require: { optional: true } },
    bearer(token({ exp: now - 60 })),
    'optional',
  ],
  [
    'a valid token where it is optional',
    { auth: { authRequired: false } },
    { require: { optional: true } },
    bearer(token()),
  ],
  ['a valid token', {}, {}, bearer(token())],
  ['the scheme in lower case', {}, {}, { headers: { authorization: `bearer ${token()}` } }],
  ['credentials of another scheme', {}, {}, { headers: { authorization: 'Basic Zm9vOmJhcg==' } }, 'none'],
  ['the scheme without a token', {}, {}, { headers: { authorization: 'Bearer' } }, 'none'],
  [
    'a token that is signed with a shared secret',
    { auth: { secret, issuerBaseURL: undefined, issuer, tokenSigningAlg: 'HS256' } },
    { algorithms: ['HS256'] },
    bearer(token({}, { alg: 'HS256' })),
    'symmetric',
  ],
  [
    'a token that is signed with another secret',
    { auth: { secret, issuerBaseURL: undefined, issuer, tokenSigningAlg: 'HS256' } },
    {},
    bearer(token({}, { alg: 'HS256', secret: 'another' })),
  ],
  ['HS256 where the keys are public', {}, {}, bearer(token({}, { alg: 'HS256' }))],
  ['`alg: none`', {}, {}, bearer(token({}, { alg: 'none' }))],
  ['another audience', {}, {}, bearer(token({ aud: 'https://other.example.com' }))],
  ['no audience', {}, {}, bearer(token({ aud: undefined }))],
  ['several audiences in the token', {}, {}, bearer(token({ aud: ['https://other.example.com', audience] }))],
  [
    'one of several audiences of the API',
    { auth: { audience: ['https://other.example.com', audience] } },
    { audience: ['https://other.example.com', audience] },
    bearer(token()),
  ],
  ['another issuer', {}, {}, bearer(token({ iss: 'https://evil.example.com' }))],
  ['an issuer with a slash at its end', {}, {}, bearer(token({ iss: `${issuer}/` }))],
  ['an expired token', {}, {}, bearer(token({ exp: now - 60 }))],
  ['no expiry', {}, {}, bearer(token({ exp: undefined }))],
  ['a token that is not valid yet', {}, {}, bearer(token({ nbf: now + 600 }))],
  ['a start of validity that is not a time', {}, {}, bearer(token({ nbf: false }))],
  ['the key of a stranger', {}, {}, bearer(token({}, {}, strange))],
  ['an unknown key ID', {}, {}, bearer(token({}, { kid: 'key-2' }))],
  ['a token in the body', {}, {}, sends(token()), 'body'],
  ['a token in the query', {}, {}, { query: `?access_token=${token()}` }, 'query'],
  ['tokens in the header and in the query', {}, {}, { ...bearer(token()), query: '?access_token=abc' }],
  [
    'tokens in the header and in the body',
    {},
    {},
    { ...sends('abc'), headers: { ...form, ...bearer(token()).headers } },
    'body',
  ],
  [
    'two Authorization headers',
    {},
    {},
    { headers: { authorization: [`Bearer ${token()}`, 'Bearer abc'] } },
    'twice',
  ],
  [
    'a condition of the verifier that is not met',
    { auth: { validators: { foo: () => false } } },
    { where: () => false },
    bearer(token()),
  ],
  [
    'a condition of the route that is not met',
    { then: claimCheck(({ num }) => num > 3) },
    { require: { where: ({ claims: { num } }) => num > 3 } },
    bearer(token({ num: 2 })),
    'forbidden',
  ],
  [
    'a condition of the route that is met',
    { then: claimCheck(({ num }) => num > 3) },
    { require: { where: ({ claims: { num } }) => num > 3 } },
    bearer(token({ num: 4 })),
  ],
  [
    'a claim that differs',
    { then: claimEquals('foo', 'bar') },
    { require: { claims: { foo: 'bar' } } },
    bearer(token({ foo: 'baz' })),
    'forbidden',
  ],
  [
    'a claim that is equal',
    { then: claimEquals('foo', 'bar') },
    { require: { claims: { foo: 'bar' } } },
    bearer(token({ foo: 'bar' })),
  ],
  [
    'a claim without one of two values',
    { then: claimIncludes('foo', 'bar', 'baz') },
    { require: { claims: { foo: ['bar', 'baz'] } } },
    bearer(token({ foo: ['bar', 'qux'] })),
    'forbidden',
  ],
  [
    'a claim with both values',
    { then: claimIncludes('foo', 'bar', 'baz') },
    { require: { claims: { foo: ['bar', 'baz'] } } },
    bearer(token({ foo: ['bar', 'baz'] })),
  ],
  [
    'a claim that is a text with both values',
    { then: claimIncludes('foo', 'bar', 'baz') },
    { require: { claims: { foo: ['bar', 'baz'] } } },
    bearer(token({ foo: 'bar baz' })),
    'split',
  ],
  [
    'no token where a claim is required',
    { then: claimCheck(() => true) },
    { require: { where: () => true } },
    {},
  ],
  [
    'a scope too few',
    { then: requiredScopes(['foo', 'bar', 'baz']) },
    { require: { scopes: ['foo', 'bar', 'baz'] } },
    bearer(token({ scope: 'foo bar' })),
  ],
  [
    'all scopes, as a list',
    { then: requiredScopes('foo bar') },
    { require: { scopes: ['foo', 'bar'] } },
    bearer(token({ scope: ['foo', 'bar', 'baz'] })),
  ],
  [
    'none of several scopes',
    { then: scopeIncludesAny(['foo', 'bar']) },
    { require: { anyScope: ['foo', 'bar'] } },
    bearer(token({ scope: 'qux' })),
    'least',
  ],
  [
    'one of several scopes',
    { then: scopeIncludesAny('foo bar') },
    { require: { anyScope: ['foo', 'bar'] } },
    bearer(token({ scope: 'bar' })),
  ],
  [
    'a token of RFC 9068 where its type is required',
    { auth: { strict: true } },
    { typ: undefined, claims: undefined },
    bearer(token(atJwt, { typ: 'at+jwt' })),
  ],
  [
    'another type where that of RFC 9068 is required',
    { auth: { strict: true } },
    { typ: undefined, claims: undefined },
    bearer(token(atJwt)),
  ],
  [
    'no client_id where RFC 9068 requires it',
    { auth: { strict: true } },
    { typ: undefined, claims: undefined },
    bearer(token({ jti: 'j' }, { typ: 'at+jwt' })),
  ],
  ['a request without originalUrl', { before: withoutUrl }, { before: withoutUrl }, bearer(token())],
]

function withoutUrl(incoming, _response, next) {
  delete incoming.originalUrl
  next()
}

const ok = (_incoming, response) => response.end('ok')
const onError = (error, _incoming, response, _next) =>
  response
    .status(error.status ?? 500)
    .set(error.headers ?? {})
    .end()
const pass = (_incoming, _response, next) => next()

function theirs({ auth: options = {}, then = pass, before = pass }) {
  const app = express().use(express.urlencoded({ extended: false }), before)
  return app.use(auth({ issuerBaseURL: issuer, audience, ...options }), then, ok, onError)
}

function ours({ require: requirements = {}, before = pass, ...options }) {
  // Tokens of the type JWT are accepted only with something that tells them from ID tokens.
  const verifier = createTokenVerifier({
    issuer,
    audience,
    typ: 'JWT',
    claims: { sub: 'me' },
    onEvent() {},
    ...options,
  })
  const app = express().use(express.urlencoded({ extended: false }), before)
  return app.use(requireToken(verifier, requirements), ok, onError)
}

/** Status, error code and scope of the response. */
async function call(app, { method = 'GET', headers = {}, query = '', body }) {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outgoing = request({
    port: server.address().port,
    host: '127.0.0.1',
    method,
    headers,
    path: `/${query}`,
    agent: false,
  })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  response.resume()
  await once(response, 'end')
  server.close()
  const challenge = response.headers['www-authenticate'] ?? ''
  const [, error = ''] = /\berror="([^"]*)"/.exec(challenge) ?? []
  const [, scope = ''] = /\bscope="([^"]*)"/.exec(challenge) ?? []
  return [response.statusCode, error, scope && `scope="${scope}"`].filter(Boolean).join(' ')
}

const failures = []
const rows = []
for (const [title, setUpTheirs, setUpOurs, sent, difference] of cases) {
  const [their, our] = [await call(theirs(setUpTheirs), sent), await call(ours(setUpOurs), sent)]
  if (their !== our) {
    rows.push([title, their, our, differences[difference] ?? ''])
    if (difference === undefined) failures.push(`${title}: ${their}, but ours ${our}`)
  } else if (difference !== undefined) failures.push(`${title}: no longer differs`)
}
issuerServer.close()
issuerServer.closeAllConnections()

const titles = ['request', 'express-oauth2-jwt-bearer', 'Tokenwell', 'why']
const cells = [titles, titles.map(() => '---'), ...rows]
const table = cells.map((row) => `| ${row.join(' | ')} |`).join('\n')
const count = `${cases.length} requests: ${cases.length - rows.length} have the same result, ${rows.length} differ`
const page = new URL('../../../../docs/migration/express-oauth2-jwt-bearer.md', import.meta.url)
if (existsSync(page)) {
  const text = readFileSync(page, 'utf8')
  const squeezed = text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
  if (process.argv.includes('--write')) {
    const renewed = text.replace(/\d+ requests: \d+ have the same result, \d+ differ/, count)
    writeFileSync(page, renewed.replace(/^\| request .*\n(?:\|.*\n)*/m, `${table}\n`))
  } else if (!squeezed.includes(table) || !text.includes(count)) {
    failures.push('docs/migration/express-oauth2-jwt-bearer.md differs: run this program with --write')
  }
}
for (const failure of failures) console.error(failure)
console.log(count)
assert.equal(failures.length, 0)
process.exit()
