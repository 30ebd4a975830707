import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { CheckResult } from '../../src/doctor/run-checks.ts'
import { createReporter } from '../../src/doctor/reporter.ts'

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
