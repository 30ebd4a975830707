// The SDK of AWS signs the request, and reads the response and the errors of its security token service.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { STS } from '@aws-sdk/client-sts'
import { awsIdentity } from '@tokenwell/client-authentication'

const audience = 'https://auth.example.com'
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = [part({ alg: 'ES384' }), part({ aud: audience, exp: Date.now() / 1_000 + 300 }), 'c2ln'].join('.')
const namespace = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
const requests = []
let failure

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  requests.push({ headers: request.headers, form: Object.fromEntries(new URLSearchParams(body)) })
  response.writeHead(failure?.status ?? 200, { 'content-type': 'text/xml' })
  response.end(
    failure
      ? `<ErrorResponse ${namespace}><Error><Type>Sender</Type><Code>${failure.code}</Code><Message>Denied</Message></Error><RequestId>1</RequestId></ErrorResponse>`
      : `<GetWebIdentityTokenResponse ${namespace}><GetWebIdentityTokenResult><WebIdentityToken>${jwt}</WebIdentityToken><Expiration>2030-01-01T00:00:00Z</Expiration></GetWebIdentityTokenResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetWebIdentityTokenResponse>`,
  )
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const sts = new STS({
  endpoint: `http://127.0.0.1:${server.address().port}`,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  maxAttempts: 1,
})
const identity = awsIdentity({ audience, sts })
assert.equal(await identity(), jwt)
assert.equal(await identity(), jwt)
assert.equal(requests.length, 1)
const [{ headers, form }] = requests
assert.match(headers.authorization, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//)
assert.equal(form.Action, 'GetWebIdentityToken')
assert.equal(form['Audience.member.1'], audience)

for (const [code, status, kind] of [
  ['AccessDenied', 403, 'configuration'],
  ['OutboundWebIdentityFederationDisabled', 400, 'configuration'],
  ['InternalFailure', 500, 'unavailable'],
]) {
  failure = { code, status }
  await assert.rejects(awsIdentity({ audience, sts })(), (error) => {
    assert.equal(error.kind, kind, error.message)
    return true
  })
}
const withoutCredentials = new STS({
  region: 'eu-central-1',
  credentials: async () => {
    throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' })
  },
})
await assert.rejects(awsIdentity({ audience, sts: withoutCredentials })(), /Run this in AWS/)
server.close()
server.closeAllConnections()
console.log('AWS: signed, read, explained')
