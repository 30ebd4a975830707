import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { json, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'
import { useSandboxedService } from './sandboxed-service.ts'
import { runTokenwell, temporaryFolder } from './tokenwell-process.ts'

const service = useSandboxedService()
const environment = (changes: Record<string, string> = {}) => ({
  ...service.environmentOf('demo'),
  ...changes,
})
const credentials = { CLIENT_ID: 'canary-id', CLIENT_SECRET: 'canary-secret' }
const remote = { ...credentials, AUTH_URL: 'https://auth.example.com' }

describe('tokenwell token', () => {
  it('prints the token and nothing else', async () => {
    const { code, stdout, stderr } = await runTokenwell(['token'], environment())
    expect(stdout).toMatch(/^[\w-]{40,}\n$/)
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
  })

  it('uses plain HTTP to another machine with --allow-insecure only', async () => {
    const env = environment({ AUTH_URL: service.authUrl.replace('127.0.0.1', '0.0.0.0') })
    expect((await runTokenwell(['token'], env)).code).toBe(2)
    expect((await runTokenwell(['token', '--allow-insecure'], env)).code).toBe(0)
  })

  it('prints it as a header and as JSON', async () => {
    const header = await runTokenwell(['token', '--header'], environment())
    expect(header.stdout).toMatch(/^Authorization: Bearer [\w-]{40,}\n$/)
    const { stdout } = await runTokenwell(['token', '--json'], environment())
    expect(JSON.parse(stdout)).toStrictEqual({
      access_token: expect.stringMatching(/^[\w-]{40,}$/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
    })
    const headers = await runTokenwell(['token', '--headers-json'], environment())
    expect(JSON.parse(headers.stdout)).toEqual({
      Authorization: expect.stringMatching(/^Bearer [\w-]{40,}$/),
    })
    const two = await runTokenwell(['token', '--headers-json', '--header'], environment())
    expect(two).toMatchObject({ code: 2, stdout: '' })
    const both = await runTokenwell(['token', '--json', '--header'], environment())
    expect(JSON.parse(both.stdout)).toMatchObject({ error: 'usage' })
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be used with'),
    })
  })

  it('fails in JSON as well, in the form of a token response', async () => {
    const outcomeOf = async (env: Record<string, string>, ...args: string[]) => {
      const { code, stdout, stderr } = await runTokenwell(['token', '--json', ...args], env)
      expect(stderr).toMatch(/^tokenwell: /m)
      expect(stdout).not.toContain('canary')
      return [code, JSON.parse(stdout)]
    }
    expect(await outcomeOf({ ...environment(), CLIENT_SECRET: 'canary' })).toEqual([
      1,
      {
        error: 'invalid_client',
        error_description: expect.stringMatching(/rejected the client credentials.*`tokenwell doctor`/),
        status: 401,
      },
    ])
    await service.fault({ status: 503, requests: 10 })
    expect(await outcomeOf({ ...environment() }, '--timeout', '0.2')).toEqual([
      3,
      { error: 'unavailable', error_description: expect.any(String), status: 503 },
    ])
    expect(await outcomeOf({})).toEqual([
      2,
      { error: 'usage', error_description: expect.stringMatching(/^The token endpoint, .* are missing\./) },
    ])
    expect(await outcomeOf({}, '--unknown')).toEqual([
      2,
      { error: 'usage', error_description: expect.any(String) },
    ])
  })

  it('names everything that is missing at once, and variables that are misspelt', async () => {
    const stderrOf = async (args: string[], env: Record<string, string> = {}) =>
      (await runTokenwell(args, env)).stderr
    expect(await stderrOf(['token'])).toBe(
      [
        'tokenwell: The token endpoint, the client ID, and the client secret are missing.',
        "→ Token endpoint: pass --issuer, --token-endpoint or, for the platform's token service, --auth-url; or set ISSUER, TOKEN_ENDPOINT or AUTH_URL.",
        '→ Client ID: pass --client-id, or set CLIENT_ID or CONSUMER_KEY.',
        '→ Client secret: set CLIENT_SECRET or CONSUMER_SECRET, or pass --credentials.',
        '',
      ].join('\n'),
    )
    expect(await stderrOf(['proxy'], { CLIENT_ID: 'a', CLIENT_SECRET: 'b' })).toMatch(
      /^tokenwell: --to and the token endpoint are missing\.\n→ API: pass --to .*\n→ Token endpoint: .*\n$/,
    )
    expect(await stderrOf(['token', '--grant', 'jwt-bearer', '--identity', 'gcp'])).toMatch(
      /^tokenwell: The token endpoint and the audience of the assertion are missing\.\n/,
    )
    const misspelt = {
      TOKEN_ENPOINT: 'canary',
      client_id: 'canary',
      CLIENT_SERCET: 'canary',
      CONSUMER_KEYS: 'canary',
    }
    const stderr = await stderrOf(['token'], misspelt)
    expect(stderr.match(/^→ \w+ is set, but not read: the name is \w+\.$/gm)).toEqual([
      '→ TOKEN_ENPOINT is set, but not read: the name is TOKEN_ENDPOINT.',
      '→ client_id is set, but not read: the name is CLIENT_ID.',
      '→ CONSUMER_KEYS is set, but not read: the name is CONSUMER_KEY.',
      '→ CLIENT_SERCET is set, but not read: the name is CLIENT_SECRET.',
    ])
    expect(stderr).not.toContain('canary')
  })

  describe('reads the credentials', () => {
    const secret = () => environment().CLIENT_SECRET!
    const works = async (args: string[], env: Record<string, string> = {}, input?: string) => {
      const ended = await runTokenwell(['token', ...args], { AUTH_URL: service.authUrl, ...env }, input)
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]{40,}\n$/) })
      expect(ended.stderr).not.toContain(secret())
      return ended.stderr
    }

    it('from the environment, with either pair of names', async () => {
      expect(await works([], { CONSUMER_KEY: 'demo', CONSUMER_SECRET: secret() })).toBe('')
    })

    it.each([
      ['a .env file', () => `CLIENT_ID=demo\nCLIENT_SECRET="${secret()}"\n`],
      ['a JSON file', () => JSON.stringify({ clientId: 'demo', client_secret: secret() })],
      ['the other names', () => `CONSUMER_KEY=demo\nCONSUMER_SECRET=${secret()}`],
    ])('from %s', async (_kind, text) => {
      const folder = temporaryFolder({ credentials: text() })
      const wrong = { CLIENT_ID: 'other', CLIENT_SECRET: 'other' }
      const args = ['--credentials', join(folder, 'credentials'), '--auth-url', service.authUrl]
      expect(await works(args, wrong)).toBe('')
      expect(await works(args.slice(0, 2))).toBe('')
    })

    it('from standard input', async () => {
      expect(await works(['--client-id', 'demo', '--client-secret', '-'], {}, `${secret()}\nmore`)).toBe('')
    })

    it('from a flag, with a warning', async () => {
      const stderr = await works(['--client-id', 'demo', '--client-secret', secret()])
      expect(stderr).toMatch(/^warning: All users of this machine can read --client-secret/)
    })

    it('from a file, completed by a flag', async () => {
      const folder = temporaryFolder({ id: 'CLIENT_ID=demo', secret: `CLIENT_SECRET=${secret()}` })
      const from = (name: string) => ['--credentials', join(folder, name)]
      expect(await works([...from('id'), '--client-secret', '-'], {}, secret())).toBe('')
      expect(await works([...from('secret'), '--client-id', 'demo'])).toBe('')
    })

    it.each([
      ['no client ID', {}],
      ['the same client ID', { CLIENT_ID: 'demo' }],
    ])('from the environment, for a --client-id beside %s', async (_, env) => {
      expect(await works(['--client-id', 'demo'], { CLIENT_SECRET: secret(), ...env })).toBe('')
    })

    it.each([
      ['AUTH_URL', () => service.authUrl],
      ['ISSUER', () => service.authUrl],
      [
        'TOKEN_ENDPOINT',
        () => `${service.authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`,
      ],
    ])('from a file that contains %s too', async (name, url) => {
      const text = `${name}=${url()}\nCLIENT_ID=demo\nCLIENT_SECRET=${secret()}`
      const folder = temporaryFolder({ credentials: text })
      const ended = await runTokenwell(['token', '--credentials', join(folder, 'credentials')], {})
      expect(ended.code).toBe(0)
    })
  })

  describe('reports in one sentence, without a secret,', () => {
    const fails = async (args: string[], env: Record<string, string>, expected: number) => {
      const { code, stdout, stderr } = await runTokenwell(['token', ...args], env)
      expect(stdout).toBe('')
      expect(stderr).not.toContain('canary')
      expect(stderr).not.toMatch(/^\s+at /m)
      expect(code).toBe(expected)
      return stderr
    }

    it.each<[string, number, string, RegExp]>([
      ['group.env', 0o640, 'CLIENT_SECRET=canary', /mode 0640\)\. Run chmod 600 \S+group\.env/],
      ['world.env', 0o604, 'CLIENT_SECRET=canary', /mode 0604\)\. Run chmod 600/],
      ['empty.env', 0o600, '', /contains no credentials\. Add the lines CLIENT_ID=/],
      ['broken.json', 0o600, '{ "client_secret": "canary', /is not valid JSON/],
    ])('the problem with %s', async (name, mode, text, message) => {
      const path = join(temporaryFolder({ [name]: text }), name)
      chmodSync(path, mode)
      expect(await fails(['--credentials', path], { AUTH_URL: service.authUrl }, 2)).toMatch(message)
    })

    it('a folder instead of a file, or a missing file', async () => {
      const folder = temporaryFolder({})
      const missing = join(folder, 'missing.env')
      expect(await fails(['--credentials', missing], {}, 2)).toMatch(/missing\.env does not exist/)
      chmodSync(folder, 0o700)
      expect(await fails(['--credentials', folder], {}, 2)).toMatch(/Could not read .* \(EISDIR\)/)
    })

    // Of two clients: the URL and the secret of one must not go with the ID of the other.
    const other = { ISSUER: 'https://b.test', CLIENT_ID: 'other', CLIENT_SECRET: 'canary' }
    const isOther = (name: string) => `→ ${name} is set for another client: nothing beside it is used.`

    it.each<[string, string, string[], Record<string, string>, string, string]>([
      [
        'a secret beside another ID',
        '',
        [],
        { ...remote, CLIENT_ID: 'a', CLIENT_SECRET: '', CONSUMER_SECRET: 'canary' },
        'The client secret is missing.',
        '',
      ],
      [
        'an ID beside another secret',
        '',
        [],
        { ...remote, CLIENT_ID: '', CONSUMER_KEY: 'a' },
        'The client ID is missing.',
        '',
      ],
      [
        'names of the platform with an issuer',
        '',
        [],
        { ISSUER: 'https://a.test', CONSUMER_KEY: 'a', CONSUMER_SECRET: 'canary' },
        'The client ID and the client secret are missing.',
        '→ CONSUMER_KEY is used with AUTH_URL only.',
      ],
      [
        'a secret beside a file with an ID',
        'CLIENT_ID=a',
        ['--issuer', 'https://a.test'],
        { CLIENT_SECRET: 'canary' },
        'The client secret is missing.',
        isOther('CLIENT_SECRET'),
      ],
      [
        'an ID beside a file with a secret',
        'CLIENT_SECRET=canary',
        ['--issuer', 'https://a.test'],
        other,
        'The client ID is missing.',
        isOther('CLIENT_ID'),
      ],
      [
        'the URL of another client beside a file',
        'CLIENT_ID=a\nCLIENT_SECRET=canary',
        [],
        other,
        'The token endpoint is missing.',
        isOther('CLIENT_ID'),
      ],
      [
        'another --client-id',
        '',
        ['--client-id', 'a'],
        other,
        'The token endpoint and the client secret are missing.',
        isOther('CLIENT_ID'),
      ],
      [
        'another key',
        '',
        ['--client-id', 'a', '--issuer', 'https://a.test'],
        { CLIENT_ID: 'b', PRIVATE_KEY_FILE: '/key.pem' },
        'The client secret is missing.',
        isOther('CLIENT_ID'),
      ],
      [
        'another --client-id than in a file',
        'CLIENT_ID=b\nCLIENT_SECRET=canary',
        ['--client-id', 'a', '--issuer', 'https://a.test'],
        {},
        'The client secret is missing.',
        '→ clientId in ',
      ],
    ])('%s, which is not used', async (_, text, args, env, problem, hint) => {
      const from =
        text === '' ? [] : ['--credentials', join(temporaryFolder({ 'client.env': text }), 'client.env')]
      const stderr = await fails([...args, ...from], env, 2)
      expect(stderr).toMatch(new RegExp(`^tokenwell: ${problem}\n`))
      expect(stderr).toContain(hint)
    })

    const wrongTimeout = (timeout: string): [string, string[], Record<string, string>, RegExp] => [
      `the timeout "${timeout}"`,
      [`--timeout=${timeout}`],
      {},
      /must be a number greater than 0 and at most 3600/,
    ]

    it.each<[string, string[], Record<string, string>, RegExp]>([
      ['no URL', [], { CLIENT_ID: 'a' }, /→ Token endpoint: pass --issuer, --token-endpoint or/],
      ['two URLs', [], { AUTH_URL: 'https://a', TOKEN_ENDPOINT: 'https://b' }, /are mutually exclusive/],
      ['two URLs', [], { AUTH_URL: 'https://a', ISSUER: 'https://b' }, /AUTH_URL and ISSUER are mutually/],
      ['an issuer', ['--issuer', 'http://a.test'], { CLIENT_ID: 'a', CLIENT_SECRET: 'b' }, /^\S* ?--issuer /],
      [
        'no client ID',
        [],
        { AUTH_URL: 'https://a' },
        /→ Client ID: pass --client-id, or set CLIENT_ID or CONSUMER_KEY/,
      ],
      [
        'no secret',
        [],
        { AUTH_URL: 'https://a', CLIENT_ID: 'a' },
        /^tokenwell: The client secret is missing\.\n→ Client secret: set CLIENT_SECRET or/,
      ],
      ['no URL', [], { ...credentials, AUTH_URL: 'canary' }, /AUTH_URL is not a valid URL/],
      [
        'plain HTTP',
        [],
        { ...credentials, AUTH_URL: 'http://a.example' },
        /\. Inside a trusted network, pass --allow-insecure\./,
      ],
      [
        'a line break',
        [],
        { ...credentials, AUTH_URL: 'https://a', CLIENT_SECRET: 'canary\n' },
        /line break/,
      ],
      ['a parameter', ['--parameter', 'canary'], remote, /--parameter must have the form name=value/],
      ['a reserved one', ['--parameter', 'scope=a'], remote, /--parameter must not contain scope/],
      ...['soon', ' ', '0', '-5', '3601'].map((timeout) => wrongTimeout(timeout)),
      ['an unknown flag', ["--secret=can'ary canary"], {}, /^tokenwell: Unknown option '--secret=…'\.\n→ /],
    ])('wrong usage: %s', async (_name, args, env, message) => {
      const stderr = await fails(args, env, 2)
      expect(stderr).toMatch(message)
    })

    it('a rejection', async () => {
      const stderr = await fails([], environment({ CLIENT_SECRET: 'canary-wrong' }), 1)
      expect(stderr).toMatch(
        /rejected the client credentials \(401 invalid_client\).*\n→ `tokenwell doctor` examines the token endpoint/,
      )
    })

    it('a wrong path', async () => {
      const stderr = await fails([], environment({ AUTH_URL: `${service.authUrl}/elsewhere` }), 1)
      expect(stderr).toMatch(/rejected the request \(404.*\n→ `tokenwell doctor` examines/)
    })

    it('an unreachable endpoint', async () => {
      const closed = await startScriptedServer(() => 'drop')
      await closed.close()
      const stderr = await fails([], environment({ AUTH_URL: closed.origin }), 3)
      expect(stderr).toMatch(
        /request failed: unavailable\. Retrying…\n.*Could not reach the token endpoint .*\(ECONNREFUSED\)/s,
      )
    })

    it('a timeout', async () => {
      await service.fault({ latencyMs: 10_000 })
      expect(await fails(['--timeout', '0.2'], environment(), 3)).toMatch(/did not respond to|Timed out/)
    })

    it('rate limiting', async () => {
      await service.fault({ requests: 9, status: 429, headers: { 'retry-after': '600' } })
      expect(await fails([], environment(), 3)).toMatch(/rate-limited the request \(429\)/)
    })
  })

  it('retries after a temporary failure and reports it', async () => {
    await service.fault({ status: 503 })
    const { code, stdout, stderr } = await runTokenwell(['token'], environment())
    expect(code).toBe(0)
    expect(stdout).toMatch(/^[\w-]{40,}\n$/)
    expect(stderr).toBe('The token request failed: unavailable (status 503). Retrying…\n')
  })

  describe('sends the request', () => {
    let server: ScriptedServer
    beforeEach(async () => {
      server = await startScriptedServer(() => json({ access_token: 'a-token', expires_in: 7200 }))
      onTestFinished(() => server.close())
    })

    it('with scope, audience, resource and further parameters', async () => {
      const url = `${server.origin}/token`
      const flags = ['--scope', 'read', '--scope', 'write', '--audience', 'api', '--resource', 'urn:a']
      const more = ['--resource', 'urn:b', '--parameter', 'tenant=a=b']
      const args = ['token', '--token-endpoint', url, ...flags, ...more]
      expect((await runTokenwell(args, credentials)).stdout).toBe('a-token\n')
      expect(Object.fromEntries(new URLSearchParams(server.requests[0]?.body))).toStrictEqual({
        grant_type: 'client_credentials',
        client_id: 'canary-id',
        client_secret: 'canary-secret',
        scope: 'read write',
        audience: 'api',
        resource: 'urn:b',
        tenant: 'a=b',
      })
    })

    it('with the credentials in a header', async () => {
      // The flag takes precedence over the other URL in the environment.
      const env = { ...credentials, AUTH_URL: 'https://unused.example' }
      const args = ['token', '--token-endpoint', `${server.origin}/token`, '--basic']
      expect((await runTokenwell(args, env)).code).toBe(0)
      expect(server.requests[0]?.headers.authorization).toBe(`Basic ${btoa('canary-id:canary-secret')}`)
      expect(server.requests[0]?.body).toBe('grant_type=client_credentials')
    })

    it('with expires_in in milliseconds', async () => {
      const args = [
        'token',
        '--json',
        '--token-endpoint',
        `${server.origin}/token`,
        '--expires-in',
        'milliseconds',
      ]
      const { stdout } = await runTokenwell(args, credentials)
      expect(JSON.parse(stdout).expires_in).toBeLessThanOrEqual(7)
    })
  })
})
