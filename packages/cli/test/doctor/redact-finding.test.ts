import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/doctor/finding.ts'
import { redactFinding } from '../../src/doctor/redact-finding.ts'

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
