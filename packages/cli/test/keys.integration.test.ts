import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { exportJWK, exportPKCS8, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { json, startScriptedServer, type ScriptedResponse } from '@tokenwell/internal-testing'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import type { Finding } from '../src/doctor/finding.ts'
import { runTokenwell, startTokenwell, temporaryFolder } from './tokenwell-process.ts'

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const pem = await exportPKCS8(privateKey)
const jwk = JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'key-1' })
let service: RunningTokenService
beforeAll(async () => {
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'key-1' }]
  service = await startTokenService({
    port: 0,
    applications: [{ name: 'orders', clientId: 'orders', products: ['speech-to-text'], jwks: { keys } }],
  })
})
afterAll(() => service.close())

const environment = () => ({ AUTH_URL: service.authUrl, CLIENT_ID: 'orders' })

function fileWith(content: string, mode = 0o600): string {
  const path = join(temporaryFolder({ key: content }), 'key')
  chmodSync(path, mode)
  return path
}

/** An assertion, as a platform would write it to a file. */
function assertionOf(
  audience: string,
  lifetimeSeconds = 60,
  identity = { iss: 'orders', sub: 'orders' },
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({
    ...identity,
    aud: audience,
    iat: now - 60,
    exp: now + lifetimeSeconds,
    jti: crypto.randomUUID(),
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
    .sign(privateKey)
}

describe('an identity as the grant', () => {
  const issuer = 'https://ci.example.com'
  const rules = [{ clientId: 'orders', claims: { sub: 'repo:example/orders' } }]

  async function trustingService() {
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1' }] }
    const service = await startTokenService({
      applications: [{ name: 'orders', clientId: 'orders', clientSecret: 'not-used-0123456789' }],
      trustedIssuers: [{ issuer, jwksUrl: `${issuer}/jwks`, audiences: ['api://tokens'], rules }],
      fetchKeys: async () => Response.json(jwks),
    })
    onTestFinished(() => service.close())
    return service
  }
  const identity = () => assertionOf('api://tokens', 600, { iss: issuer, sub: 'repo:example/orders' })

  it('gets a token of the service, from a file and from a platform, without a client ID', async () => {
    const { authUrl } = await trustingService()
    const folder = temporaryFolder({ jwt: `${await identity()}\n` })
    const grant = ['token', '--auth-url', authUrl, '--grant', 'jwt-bearer', '--no-cache']
    const fromFile = await runTokenwell([...grant, '--assertion-file', `${folder}/jwt`])
    expect([fromFile.code, fromFile.stderr]).toEqual([0, ''])
    expect(fromFile.stdout).toMatch(/^[\w-]{40,}\n$/)

    const jwt = await identity()
    const platform = await startScriptedServer(() => json({ value: jwt }))
    onTestFinished(() => platform.close())
    const flags = [
      '--identity',
      'github-actions',
      '--assertion-audience',
      'api://tokens',
      '--client-id',
      'orders',
    ]
    const fromPlatform = startTokenwell([...grant, ...flags], {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${platform.origin}/identity?version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    })
    expect([(await fromPlatform.ended).code, fromPlatform.written.stderr]).toEqual([0, ''])
  })

  it.each([
    [
      ['token'],
      /^tokenwell: The assertion is missing\.\n→ Assertion: pass --identity or --assertion-file, which/,
    ],
    [['token', '--assertion-file', 'absent'], /Could not read the assertion file absent \(ENOENT\)/],
    [['doctor', '--assertion-file', 'absent'], /tokenwell doctor checks client credentials/],
    [['token', '--identity', 'gcp'], /--assertion-audience, which --identity gcp requires/],
  ])('is rejected as %j', async (flags, message) => {
    const env = { TOKEN_ENDPOINT: 'https://auth.example.test/token' }
    const { code, stderr } = await runTokenwell([...flags, '--grant', 'jwt-bearer'], env)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe('the identity of a platform', () => {
  it('is requested for the audience, and authenticates the client', async () => {
    const jwt = await assertionOf('api://tokens', 600)
    const server = await startScriptedServer(({ url }) =>
      url === '/token' ? json({ access_token: 'of-the-endpoint', expires_in: 60 }) : json({ value: jwt }),
    )
    onTestFinished(() => server.close())
    const flags = ['--identity', 'github-actions', '--assertion-audience', 'api://tokens', '--no-cache']
    const { ended, written } = startTokenwell(['token', ...flags], {
      TOKEN_ENDPOINT: `${server.origin}/token`,
      CLIENT_ID: 'orders',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.origin}/identity?version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    })
    expect([(await ended).code, written]).toEqual([0, { stdout: 'of-the-endpoint\n', stderr: '' }])
    const [identity, token] = server.requests
    expect(identity).toMatchObject({
      url: '/identity?version=2&audience=api%3A%2F%2Ftokens',
      headers: { authorization: 'Bearer of-the-job' },
    })
    expect(new URLSearchParams(token!.body).get('client_assertion')).toBe(jwt)
  })

  it.each([
    [
      ['--identity', 'gcp'],
      /set ASSERTION_AUDIENCE or pass --assertion-audience, which --identity gcp requires/,
    ],
    [['--identity', 'azure'], /--assertion-audience, which --identity azure requires/],
    [['--identity', 'moon'], /Allowed choices are github-actions, gcp, azure/],
    [['--identity', 'azure', '--client-secret', 'canary'], /cannot be used with option '--client-secret/],
  ])('is rejected as %j', async (flags, message) => {
    const env = { TOKEN_ENDPOINT: 'https://auth.example.test/token', CLIENT_ID: 'orders' }
    const { code, stderr } = await runTokenwell(['token', ...flags], env)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('canary')
  })
})

describe('a private key', () => {
  const printed = { code: 0, stdout: expect.stringMatching(/^[\w-]{40,}\n$/), stderr: '' }

  it.each([
    ['PEM', () => pem],
    ['a JWK', () => jwk],
    ['a JWK after an empty line', () => `\n${jwk}`],
  ])('gets a token, as %s, which is cached for the key', async (_form, text) => {
    const key = fileWith(text())
    const env = { ...environment(), XDG_STATE_HOME: temporaryFolder({}) }
    const first = await runTokenwell(['token', '--private-key', key], env)
    expect(first).toMatchObject(printed)
    // A secret of the environment is of a place that comes later.
    const second = await runTokenwell(['token', '--private-key', key], { ...env, CLIENT_SECRET: 'other' })
    expect(second.stdout).toBe(first.stdout)
    expect(await runTokenwell(['token'], { ...environment(), PRIVATE_KEY_FILE: key })).toMatchObject(printed)
  })

  it.each<[string, string, number, string]>([
    ['that others can read', pem, 0o644, 'is accessible to other users'],
    ['that is a public one', '-----BEGIN PUBLIC KEY-----\n', 0o600, 'A private key is needed to sign.'],
    ['that is broken JSON', '{"d": "canary-secret', 0o600, 'is not valid JSON.'],
  ])('%s is a usage error', async (_name, text, mode, message) => {
    const key = fileWith(text, mode)
    const { code, stdout, stderr } = await runTokenwell(['token', '--private-key', key], environment())
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(key)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('canary-secret')
  })

  it('is rejected for another algorithm, with the flag to change', async () => {
    const key = fileWith(pem)
    const { code, stderr } = await runTokenwell(
      ['token', '--private-key', key, '--algorithm', 'PS256'],
      environment(),
    )
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `tokenwell: ${key}: key cannot be used for PS256. Pass --algorithm with one that the key supports.\n`,
    })
  })

  it('excludes a secret and an assertion file', async () => {
    for (const other of ['--client-secret=x', '--assertion-file=x']) {
      const { code, stderr } = await runTokenwell(
        ['token', '--private-key', fileWith(pem), other],
        environment(),
      )
      expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used with')])
    }
    const both = { ...environment(), PRIVATE_KEY_FILE: 'a', ASSERTION_FILE: 'b' }
    expect((await runTokenwell(['token'], both)).stderr).toContain(
      'PRIVATE_KEY_FILE and ASSERTION_FILE are mutually exclusive.',
    )
  })

  it('works for doctor', async () => {
    const key = fileWith(pem)
    const doctor = await runTokenwell(
      ['doctor', '--json', '--try-wrong-secret', '--private-key', key],
      environment(),
    )
    expect(doctor).toMatchObject({ code: 0, stderr: '' })
    expect(doctor.stdout).not.toContain('wrong secret')
  })
})

describe('an assertion file', () => {
  it('gets a token, and is read each time', async () => {
    const env = { ...environment(), ASSERTION_FILE: fileWith(await assertionOf(service.authUrl)) }
    expect(await runTokenwell(['token'], env)).toMatchObject({ code: 0, stderr: '' })
    const missing = await runTokenwell(['token', '--assertion-file', '/nowhere/token'], environment())
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Could not read the assertion file /nowhere/token (ENOENT).'),
    })
  })
})

describe('the variables of a program', () => {
  const url = 'https://auth.example.test/token'
  const client = { TOKEN_ENDPOINT: url, CLIENT_ID: 'orders' }

  it('authenticate the command in the same way, with a secret in a file and with an identity', async () => {
    const jwt = await assertionOf('api://tokens', 600)
    const server = await startScriptedServer(({ url }) =>
      url === '/token' ? json({ access_token: 'of-the-endpoint', expires_in: 60 }) : json({ value: jwt }),
    )
    onTestFinished(() => server.close())
    const own = { ...client, TOKEN_ENDPOINT: `${server.origin}/token` }
    const identity = {
      IDENTITY: 'github-actions',
      ASSERTION_AUDIENCE: 'api://tokens',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.origin}/identity`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    }
    for (const variables of [{ CLIENT_SECRET_FILE: fileWith('from-a-file\n') }, identity]) {
      const { code, stderr } = await runTokenwell(['token', '--no-cache'], { ...own, ...variables })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }
    const [secret, , assertion] = server.requests.map(({ body }) => new URLSearchParams(body))
    expect(secret?.get('client_secret')).toBe('from-a-file')
    expect(assertion?.get('client_assertion')).toBe(jwt)
  })

  it('let CLIENT_SECRET take precedence over one that was added, with a warning', async () => {
    const server = await startScriptedServer(() => json({ access_token: 'a-token', expires_in: 60 }))
    onTestFinished(() => server.close())
    const own = { ...client, TOKEN_ENDPOINT: `${server.origin}/token`, CLIENT_SECRET: 'the-secret' }
    const { code, stderr } = await runTokenwell(['token', '--no-cache'], { ...own, IDENTITY: 'gcp' })
    expect(code).toBe(0)
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'CLIENT_SECRET is used, and IDENTITY is not. Unset CLIENT_SECRET',
    )
    expect(new URLSearchParams(server.requests[0]?.body).get('client_secret')).toBe('the-secret')
  })

  it.each([
    [{ IDENTITY: 'gcp' }, /ASSERTION_AUDIENCE or pass --assertion-audience, which IDENTITY requires/],
    [{ IDENTITY: 'moon', ASSERTION_AUDIENCE: 'a' }, /IDENTITY must be github-actions, gcp or azure\./],
    [{ IDENTITY: 'gcp', ASSERTION_FILE: '/a' }, /ASSERTION_FILE and IDENTITY are mutually exclusive/],
    [{ CLIENT_SECRET_FILE: '/nowhere' }, /Could not read the file of the client secret \/nowhere \(ENOENT\)/],
  ])('are a usage error as %j', async (variables, message) => {
    const { code, stderr } = await runTokenwell(['token', '--no-cache'], { ...client, ...variables })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe('tokenwell doctor', () => {
  it.each([
    [
      'api://tokens',
      0,
      'platform_token',
      /issuer "https:\/\/ci\.example\.com", the subject "repo:a\/b" and the audience "api:/,
    ],
    ['api://other', 1, 'no_platform_token', /has the audience "api:\/\/other" instead of "api:\/\/tokens"/],
  ])(
    'reports the way, and what a JWT for %s states, before it is sent',
    async (audience, code, finding, text) => {
      const server = await startScriptedServer(() => json({ access_token: 'a-token', expires_in: 60 }))
      onTestFinished(() => server.close())
      const jwt = await assertionOf(audience, 600, { iss: 'https://ci.example.com', sub: 'repo:a/b' })
      const file = fileWith(jwt)
      const doctor = await runTokenwell(['doctor', '--json'], {
        TOKEN_ENDPOINT: `${server.origin}/token`,
        CLIENT_ID: 'orders',
        ASSERTION_FILE: file,
        ASSERTION_AUDIENCE: 'api://tokens',
      })
      expect(doctor).toMatchObject({ code, stderr: '' })
      expect(doctor.stdout).not.toContain(jwt)
      const { findings } = JSON.parse(doctor.stdout) as { findings: Finding[] }
      expect(findings[0]).toMatchObject({
        code: 'chosen',
        message: `The client authenticates with the JWT in ${file}: ASSERTION_FILE is set beside CLIENT_ID, and CLIENT_SECRET is not.`,
      })
      expect(findings.find((each) => each.code === finding)?.message).toMatch(text)
      expect(server.requests).toHaveLength(1 - code)
    },
  )

  it('names the permission that a job in GitHub Actions lacks, and a secret that takes precedence', async () => {
    const env = { ...environment(), ASSERTION_AUDIENCE: 'api://tokens', IDENTITY: 'github-actions' }
    const findings = async (variables: object) => {
      const { stdout } = await runTokenwell(['doctor', '--json'], { ...env, ...variables })
      return (JSON.parse(stdout) as { findings: Finding[] }).findings
    }
    expect(await findings({})).toContainEqual({
      check: 'authentication',
      level: 'problem',
      code: 'no_platform_token',
      message: 'ACTIONS_ID_TOKEN_REQUEST_URL is not set.',
      advice: 'Run this in GitHub Actions, in a job with the permission id-token: write.',
    })
    expect(await findings({ CLIENT_SECRET: 'wrong-secret' })).toContainEqual({
      check: 'authentication',
      level: 'warning',
      code: 'variables_ignored',
      message: 'CLIENT_SECRET is used, and IDENTITY is not.',
      advice: 'Unset CLIENT_SECRET to authenticate without it.',
    })
  })

  async function findingOf(args: readonly string[], response?: ScriptedResponse) {
    const server = response && (await startScriptedServer(() => response))
    onTestFinished(() => server?.close())
    const env = server ? { TOKEN_ENDPOINT: `${server.origin}/token`, CLIENT_ID: 'orders' } : environment()
    const { stdout } = await runTokenwell(['doctor', '--json', ...args], env)
    const sent = server?.requests.map(({ body }) => new URLSearchParams(body).get('client_assertion')!) ?? []
    for (const assertion of sent) expect(stdout).not.toContain(assertion)
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    return findings.find(({ level }) => level === 'problem')
  }
  const rejected = (error_description: string, headers = {}) =>
    json({ error: 'invalid_client', error_description }, 401, headers)

  it('names an audience that the service rejects', async () => {
    const key = ['--private-key', fileWith(jwk), '--assertion-audience', 'https://other.example.com']
    expect(await findingOf(key)).toMatchObject({
      code: 'assertion_audience',
      message: expect.stringContaining('"https://other.example.com"'),
      advice: expect.stringContaining('--assertion-audience'),
    })
    expect(await findingOf(key, rejected('unexpected "aud" claim value'))).toMatchObject({
      code: 'assertion_audience',
    })
  })

  it.each([
    ['90 s behind', 90, 'ahead of'],
    ['10 minutes ahead', -600, 'behind'],
  ])('names a clock that is %s', async (_name, seconds, direction) => {
    const date = new Date(Date.now() + seconds * 1000).toUTCString()
    expect(await findingOf(['--private-key', fileWith(pem)], rejected('', { date }))).toMatchObject({
      code: 'assertion_clock_skew',
      message: expect.stringContaining(`${direction} this machine's`),
    })
  })

  it('names a key ID that the service does not know', async () => {
    const key = ['--private-key', fileWith(pem), '--key-id', 'key-9']
    expect(await findingOf(key, rejected('no matching key in the JWKS'))).toMatchObject({
      code: 'assertion_key',
      message: expect.stringContaining('"key-9"'),
      advice: expect.stringContaining('--key-id'),
    })
    const withoutId = await findingOf(['--private-key', fileWith(pem)], rejected('bad signature'))
    expect(withoutId).toMatchObject({
      code: 'assertion_key',
      message: expect.stringContaining('no key ID'),
    })
  })

  it.each([
    ['assertion_audience', 'unexpected "aud" claim value', 'to use the audience that the service expects'],
    ['assertion_key', 'unknown kid', 'to trust the issuer'],
    ['assertion_rejected', '', 'Compare all three'],
  ])('advises on an assertion file that is rejected: %s', async (code, reason, advice) => {
    const file = fileWith(await assertionOf(service.authUrl))
    const flags = ['--assertion-file', file, '--assertion-audience', service.authUrl]
    expect(await findingOf(flags, rejected(reason))).toMatchObject({
      code,
      advice: expect.stringContaining(advice),
    })
  })

  it('lists what the assertion states if the service gives no reason', async () => {
    expect(await findingOf(['--private-key', fileWith(jwk)], rejected(''))).toMatchObject({
      code: 'assertion_rejected',
      message: expect.stringMatching(/audience "http:.*\/token", key ID "key-1", subject "orders"/),
    })
  })

  it('names an assertion file that is out of date', async () => {
    const file = fileWith(await assertionOf(service.authUrl, -30))
    const flags = ['--assertion-file', file, '--assertion-audience', service.authUrl]
    expect(await findingOf(flags, rejected(''))).toMatchObject({
      code: 'assertion_expired',
      message: expect.stringContaining(file),
    })
  })
})
