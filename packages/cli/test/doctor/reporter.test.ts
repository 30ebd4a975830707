import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenProvider, type TokenResponse } from '@tokenwell/core'
import { createFakeClock } from '@tokenwell/core/testing'
import { planFor } from '../../src/doctor/check-response.ts'
import { type Finding, redactFinding } from '../../src/doctor/finding.ts'
import { createReporter } from '../../src/doctor/reporter.ts'
import type { CheckResult } from '../../src/doctor/run-checks.ts'

const found: readonly CheckResult[] = [
  { check: 'network', level: 'ok', code: 'connected', message: 'It is reached in 2 ms.' },
  { timings: { lookup: 10, connection: 10, tls: 20, response: 40 } },
  {
    check: 'lifetime',
    level: 'warning',
    code: 'lifetime_missing',
    message:
      'The response has no expires_in; 5 min are assumed, since nothing else is known about it at all.',
    advice:
      'The service should send it (RFC 6749, section 5.1), as all clients depend on it to renew in time.',
  },
  { check: 'request', level: 'problem', code: 'throttled', message: 'Too many.', advice: 'Ask less.' },
]

function reported(shape: { json?: boolean; isTTY?: boolean }, findings = found): string {
  const stream = Object.assign(new PassThrough(), { isTTY: shape.isTTY ?? false, columns: 60 })
  const reporter = createReporter(stream as unknown as NodeJS.WriteStream, shape.json ?? false)
  reporter.begin(new URL('https://auth.example.com/token?grant_type=client_credentials'))
  for (const each of findings) reporter.add(each)
  reporter.end()
  return String(stream.read(stream.readableLength))
}

describe('the report', () => {
  it('has one line per finding in a pipe', () => {
    expect(reported({})).toBe(
      [
        'https://auth.example.com/token',
        'ok: network: It is reached in 2 ms. [connected]',
        'timings: name lookup 10 ms, connection 10 ms, TLS 20 ms, response 40 ms',
        'warning: lifetime: The response has no expires_in; 5 min are assumed, since nothing else is known about it at all. ' +
          'The service should send it (RFC 6749, section 5.1), as all clients depend on it to renew in time. [lifetime_missing]',
        'problem: request: Too many. Ask less. [throttled]',
        '1 problem, 1 warning.',
        '',
      ].join('\n'),
    )
  })

  it('fits the width of a terminal', () => {
    const drawn = reported({ isTTY: true })
    expect(stripVTControlCharacters(drawn)).toBe(`https://auth.example.com/token

✓ network      It is reached in 2 ms.
    name lookup  ━━━━━ 10 ms
    connection        ━━━━━ 10 ms
    TLS                    ━━━━━━━━━━ 20 ms
    response                         ━━━━━━━━━━━━━━━━━━━━ 40 ms
! lifetime     The response has no expires_in; 5 min are
               assumed, since nothing else is known about it
               at all.
               → The service should send it (RFC 6749,
                 section 5.1), as all clients depend on it
                 to renew in time.
✗ request      Too many.
               → Ask less.

1 problem, 1 warning.
`)
  })

  it('is one JSON document with --json', () => {
    const [connected, { timings }, ...others] = found as never as [CheckResult, { timings: object }]
    expect(JSON.parse(reported({ json: true }))).toStrictEqual({
      endpoint: 'https://auth.example.com/token',
      timings,
      findings: [connected, ...others],
    })
  })

  it('omits parts of the connection that there were not', () => {
    const timings = { connection: 10, response: 40 }
    expect(reported({}, [{ timings }])).toContain('\ntimings: connection 10 ms, response 40 ms\n')
    expect(stripVTControlCharacters(reported({ isTTY: true }, [{ timings }]))).not.toContain('TLS')
  })

  it('states that no problems were found', () => {
    expect(reported({}, found.slice(0, 2))).toMatch(/\nNo problems found\.\n$/)
  })
})

const finding = (message: string, advice?: string): Finding => ({
  check: 'request',
  level: 'problem',
  code: 'server_error',
  message,
  ...(advice !== undefined && { advice }),
})

describe('a finding', () => {
  it('contains no secret, in whatever form, in neither text', () => {
    const text = 'a b/c a%20b%2Fc a+b%2Fc'
    expect(redactFinding(finding(text, text), ['a b/c'])).toStrictEqual(
      finding('[redacted] [redacted] [redacted]', '[redacted] [redacted] [redacted]'),
    )
    expect(redactFinding(finding('four'), ['four'])).toStrictEqual(finding('[redacted]'))
  })

  it('stays readable if a secret is very short', () => {
    expect(redactFinding(finding('The token is missing.'), ['tok'])).toStrictEqual(
      finding('The token is missing.'),
    )
  })

  it('contains no control characters, and is not endless', () => {
    const { message, advice } = redactFinding(finding('\u001b[31mred\u202e', 'x'.repeat(601)), [])
    expect(message).toBe('�[31mred�')
    expect(advice).toBe('x'.repeat(600))
  })
})

it.each([1, 10, 60, 3600, 86_400])(
  'reports how long a provider caches a token of %i s',
  async (expiresIn) => {
    const evenly = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => evenly.mockRestore())
    const clock = createFakeClock()
    const requestToken = vi.fn(async (): Promise<TokenResponse> => {
      return {
        accessToken: `token-${requestToken.mock.calls.length}`,
        tokenType: 'Bearer',
        expiresIn,
        scope: [],
      }
    })
    const tokens = createTokenProvider({ requestToken, cacheKey: async () => 'key' }, { clock })
    onTestFinished(() => tokens.close())
    const { freshMs, usableMs } = planFor(expiresIn * 1000)

    await tokens.getToken()
    clock.advance(usableMs - 1)
    expect(tokens.peekToken()?.value).toBe('token-1')
    clock.advance(1)
    expect(tokens.peekToken()).toBeUndefined()

    await tokens.getToken()
    clock.advance(freshMs - 1)
    await tokens.getToken()
    expect(requestToken).toHaveBeenCalledTimes(2)
    clock.advance(1)
    await tokens.getToken()
    await vi.waitFor(() => expect(requestToken).toHaveBeenCalledTimes(3), { timeout: 20_000 })
  },
)
