import { headerValue } from '@tokenwell/core/protocol'
import { expect, it } from 'vitest'

it.each<[Parameters<typeof headerValue>[0], string | undefined]>([
  [new Headers({ 'Retry-After': '7' }), '7'],
  [new Headers(), undefined],
  [{ 'Retry-After': '7' }, '7'],
  [{ 'retry-after': 7 as never }, '7'],
  [{ 'retry-after': undefined, 'Retry-After': '7' }, '7'],
  [{ 'retry-after': undefined }, undefined],
  [{ 'retry-after': null as never }, undefined],
])('reads the value of a header: %j', (headers, value) => {
  expect(headerValue(headers, 'retry-after')).toBe(value)
})
