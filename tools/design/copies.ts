import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleSheet } from './style-sheet.ts'
import { palette } from './palette.ts'

/** The folder of the style sheet with its fonts, and the icon, of each page that is built from the design. */
const places = [
  { folder: 'packages/token-service/src/portal/assets', icon: 'packages/token-service/src/portal/assets' },
  { folder: 'docs/.vitepress/theme/design', icon: 'docs/public' },
  { folder: 'apps/speech-to-text/src/page/design', icon: 'apps/speech-to-text/src/page' },
] as const

const fonts = ['sans.woff2', 'mono.woff2', 'OFL.txt'] as const

/** What each copy must contain, by its path in the repository. */
export function copies(): ReadonlyMap<string, Buffer> {
  return new Map(
    places.flatMap(({ folder, icon }) => [
      [`${folder}/design.css`, Buffer.from(styleSheet('./'))],
      [`${icon}/icon.svg`, Buffer.from(mark)],
      ...fonts.map(
        (font) => [`${folder}/${font}`, readFileSync(join(import.meta.dirname, 'fonts', font))] as const,
      ),
    ]),
  )
}

/** The mark: a well with its water. It is the same in light and in dark. */
const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="8" fill="${palette.light.accent}" />
  <path d="M8 12h16M11 12v12h10V12M16 6v9" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" />
  <path d="M11 20h10v4H11z" fill="#8fe0d8" />
</svg>
`
