import { expect, it } from 'vitest'
import { isSecureUrl } from '../src/configuration/secure-url.ts'

it.each([
  ['https://api.example.com', true],
  ['http://api.example.com', false],
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://127.100.200.255', true],
  ['http://128.0.0.1', false],
  ['http://[::1]', true],
  ['http://localhost.example.com', false],
  ['http://127.0.0.1.example.com', false],
])('whether a token may be sent to %s: %j', (url, expected) => {
  expect(isSecureUrl(new URL(url))).toBe(expected)
  expect(isSecureUrl(new URL(url), true)).toBe(true)
})
