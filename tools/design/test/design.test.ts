import { describe, expect, it } from 'vitest'
import { pairs, palette, type Colour } from '../palette.ts'

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export function contrast(a: string, b: string): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

it('computes contrast as WCAG does', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

describe.each(['light', 'dark'] as const)('the palette, %s', (scheme) => {
  const colours = palette[scheme]

  it.each(pairs.map((pair) => [...pair] as const))(
    'has enough contrast: %s on %s, %d',
    (text, ground, least) => {
      expect(contrast(colours[text], colours[ground])).toBeGreaterThanOrEqual(least)
    },
  )

  it('uses every colour in a pair, except hairlines', () => {
    const paired = new Set(pairs.flatMap(([text, ground]) => [text, ground]))
    const others = (Object.keys(colours) as Colour[]).filter((name) => !paired.has(name))
    expect(others).toEqual(['line'])
  })
})
