import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientAuthenticationFrom } from '@tokenwell/client-authentication'
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, exportJWK, importPKCS8 } from 'jose'
import { generate } from 'selfsigned'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'places-'))
  return () => rm(folder, { recursive: true })
})

const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwtOf = (claims: object) =>
  `${base64({ alg: 'RS256' })}.${base64({ exp: Math.floor(Date.now() / 1_000) + 600, sub: 'workload', ...claims })}.c2ln`
const newKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string

type Env = Record<string, string>

/** The program: it is the same in each place. */
const program = (env: Env) =>
  clientCredentials({
    ...credentialsFrom(env, { secret: false }),
    ...clientAuthenticationFrom(env),
    maxAttempts: 1,
  })

/**
 * An authorization server whose metadata names its token endpoint, and the platforms of this machine as they document themselves. The
 * JWT that a platform issues is for the requested audience, or for another one if a test says so.
 */
async function start(options: { readonly issuedFor?: string } = {}) {
  const server = await startScriptedServer(({ url, headers, method }) => {
    const { pathname, searchParams } = new URL(url, 'http://server')
    if (pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: server.origin,
        token_endpoint: `${server.origin}/token`,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      })
    if (pathname === '/token' && method === 'POST')
      return json({ access_token: 'a-token', token_type: 'Bearer', expires_in: 3_600 })
    const audience = searchParams.get('audience') ?? searchParams.get('resource')
    const jwt = jwtOf({ aud: options.issuedFor ?? audience })
    if (pathname === '/actions' && headers['authorization'] === 'Bearer of-the-job')
      return json({ value: jwt })
    if (pathname.endsWith('/default/identity') && headers['metadata-flavor'] === 'Google')
      return { headers: { 'metadata-flavor': 'Google' }, body: jwt }
    if (pathname === '/metadata/identity/oauth2/token' && headers['metadata'] === 'true')
      return json({ access_token: jwt })
    return json({}, 404)
  })
  onTestFinished(() => server.close())
  const { fetch } = globalThis
  const fixed = ['http://metadata.google.internal', 'http://169.254.169.254']
  vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) => {
    const url = new URL(input)
    return fetch(fixed.includes(url.origin) ? new URL(url.pathname + url.search, server.origin) : url, init)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return {
    client: { ISSUER: server.origin, CLIENT_ID: 'orders' } as Env,
    endpoint: { TOKEN_ENDPOINT: `${server.origin}/token`, CLIENT_ID: 'orders' } as Env,
    /** What a job in GitHub Actions finds in its environment. */
    job: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.origin}/actions?version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    } as Env,
    /** The forms that the token endpoint has received. */
    sent: () =>
      server.requests.filter(({ url }) => url === '/token').map(({ body }) => new URLSearchParams(body)),
  }
}

describe('one program', () => {
  type Started = Awaited<ReturnType<typeof start>>
  it.each<[place: string, (started: Started) => Promise<Env> | Env, authenticatedBy: string]>([
    ['a laptop, with a secret', () => ({ CLIENT_SECRET: 'the-secret' }), 'client_secret'],
    [
      'a container, with a file of a secret',
      async () => ({ CLIENT_SECRET_FILE: await write('secret', 'the-secret\n') }),
      'client_secret',
    ],
    [
      'CI, with a private key',
      async () => ({ PRIVATE_KEY_FILE: await write('key.pem', newKey()) }),
      'client_assertion',
    ],
    [
      'Kubernetes, with a projected token',
      async ({ client }) => ({ ASSERTION_FILE: await write('token', jwtOf({ aud: [client['ISSUER']] })) }),
      'client_assertion',
    ],
    ['GitHub Actions', ({ job }) => ({ IDENTITY: 'github-actions', ...job }), 'client_assertion'],
    ['Google Cloud', () => ({ IDENTITY: 'gcp' }), 'client_assertion'],
    ['Azure', () => ({ IDENTITY: 'azure' }), 'client_assertion'],
  ])('gets a token, unchanged, on %s', async (_place, variablesOf, authenticatedBy) => {
    const started = await start()
    const { client, sent } = started
    const tokens = program({ ...client, ...(await variablesOf(started)) })
    expect((await tokens.getToken()).value).toBe('a-token')
    const [form] = sent()
    expect(form?.get('client_id')).toBe('orders')
    const proof = form?.get(authenticatedBy) ?? ''
    if (authenticatedBy === 'client_secret') expect(proof).toBe('the-secret')
    else expect([decodeJwt(proof).aud].flat()).toEqual([client['ISSUER']])
  })

  it('sends a platform what ASSERTION_AUDIENCE says where only a token endpoint is known', async () => {
    const { endpoint, job, sent } = await start()
    const env = { ...endpoint, ...job, IDENTITY: 'github-actions', ASSERTION_AUDIENCE: 'api://tokens' }
    await program(env).getToken()
    expect(decodeJwt(sent()[0]!.get('client_assertion')!).aud).toBe('api://tokens')
  })

  it('reads files again when they change', async () => {
    const { client, sent } = await start()
    const [key, secret] = [await write('key', newKey()), await write('secret', 'one')]
    const keyed = program({ ...client, PRIVATE_KEY_FILE: key, KEY_ID: 'key-1' })
    const withSecret = program({ ...client, CLIENT_SECRET_FILE: secret })
    const thumbprints: (string | undefined)[] = []
    for (const text of ['one', 'two']) {
      const pem = newKey()
      await Promise.all([write('key', pem), write('secret', text)])
      await keyed.getToken({ forceRefresh: true })
      await withSecret.getToken({ forceRefresh: true })
      const [assertion, form] = sent().slice(-2)
      expect(decodeProtectedHeader(assertion!.get('client_assertion')!)).toMatchObject({ kid: 'key-1' })
      expect(form!.get('client_secret')).toBe(text)
      const authentication = clientAuthenticationFrom({
        ...client,
        PRIVATE_KEY_FILE: key,
      }).clientAuthentication!
      thumbprints.push(await authentication.fingerprint())
      expect(thumbprints.at(-1)).toContain(
        await calculateJwkThumbprint(await exportJWK(await importPKCS8(pem, 'ES256', { extractable: true }))),
      )
    }
    expect(new Set(thumbprints).size).toBe(2)
  })

  it('sends the thumbprint of a certificate, also of one that is replaced while the key stays', async () => {
    const { client, sent } = await start()
    const {
      private: pem,
      cert,
      public: publicKey,
    } = await generate([{ name: 'commonName', value: 'orders' }])
    const again = await generate([{ name: 'commonName', value: 'renewed' }], {
      keyPair: { privateKey: pem, publicKey },
    })
    const env = {
      ...client,
      PRIVATE_KEY_FILE: await write('key', pem),
      CERTIFICATE_FILE: await write('certificate', cert),
    }
    const tokens = program(env)
    for (const certificate of [cert, again.cert]) {
      await write('certificate', certificate)
      await tokens.getToken({ forceRefresh: true })
      const der = new X509Certificate(certificate).fingerprint256.replaceAll(':', '')
      expect(decodeProtectedHeader(sent().at(-1)!.get('client_assertion')!)['x5t#S256']).toBe(
        Buffer.from(der, 'hex').toString('base64url'),
      )
    }
  })
})

describe('a wrong setting', () => {
  const kind = 'configuration'
  const endpoint = { TOKEN_ENDPOINT: 'https://auth.example.test/token', CLIENT_ID: 'orders' }

  it.each<[Env, message: string]>([
    [
      { ...endpoint, ASSERTION_FILE: '/a', IDENTITY: 'gcp' },
      'ASSERTION_FILE and IDENTITY are mutually exclusive. Set one of them.',
    ],
    [
      { ...endpoint, CLIENT_SECRET_FILE: '/a', PRIVATE_KEY_FILE: '/b' },
      'CLIENT_SECRET_FILE and PRIVATE_KEY_FILE are mutually exclusive. Set one of them.',
    ],
    [
      { ...endpoint, IDENTITY: 'azure' },
      'ASSERTION_AUDIENCE is not set in the environment. Set it to the audience that the token endpoint expects of the JWT of IDENTITY.',
    ],
    [{ ...endpoint, IDENTITY: 'moon' }, 'IDENTITY must be github-actions, gcp or azure.'],
    [
      endpoint,
      'CLIENT_SECRET is not set in the environment. Set it beside CLIENT_ID, or one of CLIENT_SECRET_FILE, PRIVATE_KEY_FILE, ASSERTION_FILE and IDENTITY.',
    ],
    [
      { AUTH_URL: 'https://auth.example.test', CONSUMER_KEY: 'platform', ASSERTION_FILE: '/a' },
      'CLIENT_ID is not set in the environment, which ASSERTION_FILE requires.',
    ],
    [
      { AUTH_URL: 'https://auth.example.test', CONSUMER_KEY: 'platform', CLIENT_SECRET: 'canary' },
      'CLIENT_ID is not set in the environment.',
    ],
  ])('is one error that says what to do: %j', (env, message) => {
    expect(() => clientAuthenticationFrom(env)).toThrow(expect.objectContaining({ kind, message }) as Error)
  })

  it.each<[string, (folder: string) => Promise<Env> | Env, RegExp]>([
    [
      'a missing file',
      (folder) => ({ ASSERTION_FILE: `${folder}/none` }),
      /^Could not read the assertion file .*none \(ENOENT\)\. Check its path and its permissions\.$/,
    ],
    [
      'a directory in place of a secret',
      (folder) => ({ CLIENT_SECRET_FILE: folder }),
      /^Could not read the file of the client secret .* \(EISDIR\)\. Check/,
    ],
    [
      'a public key',
      async () => ({
        PRIVATE_KEY_FILE: await write('key', '-----BEGIN PUBLIC KEY-----\nMA==\n-----END PUBLIC KEY-----'),
      }),
      /key: key contains "PUBLIC KEY"\. A private key is needed to sign\.$/,
    ],
    [
      'a certificate of another key',
      async () => ({
        PRIVATE_KEY_FILE: await write('key', newKey()),
        CERTIFICATE_FILE: await write('certificate', (await generate([])).cert),
      }),
      /\/certificate: certificate is not that of the key\.$/,
    ],
    [
      'a JWK that is not JSON',
      async () => ({ PRIVATE_KEY_FILE: await write('key', '{ "d": canary }') }),
      /key is not valid JSON\.$/,
    ],
    [
      'a file without a JWT',
      async () => ({ ASSERTION_FILE: await write('token', 'canary') }),
      /token contains no JWT\. Name the file that the platform writes\.$/,
    ],
    [
      'a job without id-token: write',
      () => ({ IDENTITY: 'github-actions' }),
      /^ACTIONS_ID_TOKEN_REQUEST_URL is not set\. Run this in GitHub Actions, in a job with the permission id-token: write\.$/,
    ],
  ])('is one error when a token is requested: %s', async (_what, variablesOf, message) => {
    const { client, sent } = await start()
    const error = (await program({ ...client, ...(await variablesOf(folder)) })
      .getToken()
      .catch((failure: Error) => failure)) as Error
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) })
    expect(error.message).not.toContain('canary')
    expect(sent()).toEqual([])
  })
})

describe("a platform's token", () => {
  it.each(['github-actions', 'gcp', 'azure'])(
    'does not reach a server that its audience does not name: %s',
    async (IDENTITY) => {
      const { client, job, sent } = await start({ issuedFor: 'https://other.example.test' })
      await expect(program({ ...client, ...job, IDENTITY }).getToken()).rejects.toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining(`is not for the audience "${client['ISSUER']}"`),
      })
      expect(sent()).toEqual([])
    },
  )

  it.each([
    ['of the cluster', 'https://kubernetes.default.svc.cluster.local'],
    ['of AWS', 'sts.amazonaws.com'],
    ['of Entra ID', 'api://AzureADTokenExchange'],
    ['without an audience', undefined],
  ])('does not reach one from a file: a token %s', async (_whose, aud) => {
    const { client, endpoint, sent } = await start()
    const ASSERTION_FILE = await write('token', jwtOf({ aud }))
    for (const env of [client, endpoint, { ...client, ASSERTION_AUDIENCE: 'api://tokens' }]) {
      await expect(program({ ...env, ASSERTION_FILE }).getToken()).rejects.toThrow(
        /, and was not sent\. .* or set ASSERTION_AUDIENCE to the one that the token endpoint expects\.$/,
      )
    }
    expect(sent()).toEqual([])
    if (aud === undefined) return
    await program({ ...client, ASSERTION_FILE, ASSERTION_AUDIENCE: aud }).getToken()
    expect(sent()).toHaveLength(1)
  })

  it('reaches the token endpoint that it names', async () => {
    const { endpoint, sent } = await start()
    const ASSERTION_FILE = await write('token', jwtOf({ aud: endpoint['TOKEN_ENDPOINT'] }))
    await program({ ...endpoint, ASSERTION_FILE }).getToken()
    expect(sent()).toHaveLength(1)
  })

  it('may have the ID of an application as its audience in Azure', async () => {
    const { client, sent } = await start({ issuedFor: '0b0f7b1e-6f4c-4d8e-9a36-0f3f2a1c9d55' })
    await program({ ...client, IDENTITY: 'azure' }).getToken()
    expect(sent()).toHaveLength(1)
  })
})

describe('clientAuthenticationFrom', () => {
  const issuer = { ISSUER: 'https://auth.example.test' }

  it('takes CLIENT_SECRET, and warns of a variable that is set as well', () => {
    const onWarning = vi.fn()
    const env = {
      ...issuer,
      CLIENT_ID: 'orders',
      CLIENT_SECRET: 'the-secret',
      IDENTITY: 'gcp',
      ASSERTION_FILE: '/a',
    }
    expect(clientAuthenticationFrom(env, { onWarning })).toEqual({ clientSecret: 'the-secret' })
    expect(onWarning.mock.calls).toEqual([
      [
        'CLIENT_SECRET is used, and ASSERTION_FILE and IDENTITY are not. Unset CLIENT_SECRET to authenticate without it.',
      ],
    ])
  })

  it('warns with a warning of the process', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => emitted.mockRestore())
    clientAuthenticationFrom({ ...issuer, CLIENT_ID: 'a', CLIENT_SECRET: 'b', IDENTITY: 'gcp' })
    expect(emitted).toHaveBeenCalledTimes(1)
  })

  it('reads the names of the platform, and no variable that is about no client', () => {
    const env = {
      AUTH_URL: 'https://auth.example.test',
      CONSUMER_KEY: 'key',
      CONSUMER_SECRET: 'secret',
      IDENTITY: 'x',
    }
    expect(clientAuthenticationFrom(env)).toEqual({ clientSecret: 'secret' })
  })

  it('reads one prefix alone', async () => {
    const { client, sent } = await start()
    const values: Env = {
      ISSUER: client['ISSUER']!,
      ASSERTION_FILE: '/of-no-client',
      BILLING_CLIENT_ID: 'billing',
      BILLING_ASSERTION_FILE: await write('token', jwtOf({ aud: 'api://billing' })),
      BILLING_ASSERTION_AUDIENCE: 'api://billing',
      OTHER_CLIENT_ID: 'other',
    }
    const read = (name: string) => values[name]
    const options = (prefix: string) => ({
      ...credentialsFrom(read, { prefix, secret: false }),
      ...clientAuthenticationFrom(read, { prefix }),
    })
    await clientCredentials(options('BILLING_')).getToken()
    expect(sent()[0]?.get('client_id')).toBe('billing')
    expect(() => options('OTHER_')).toThrow('OTHER_CLIENT_SECRET is not set in the environment.')
  })

  it('waits for nothing and reads no file before the first token is requested', async () => {
    const key = await write('key', newKey())
    await chmod(key, 0o000)
    const env = { ...issuer, CLIENT_ID: 'orders', PRIVATE_KEY_FILE: key }
    expect(Object.keys(clientAuthenticationFrom(env))).toEqual(['clientAuthentication'])
  })
})
