import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mark } from './mark.ts'
import { styleSheet } from './style-sheet.ts'

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
