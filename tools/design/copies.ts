import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokens } from './style-sheet.ts'
import { palette } from './palette.ts'

const portal = 'packages/token-service/src/portal/assets'
const example = 'apps/speech-to-text/src/page'

/**
 * The folder of the style sheet with its fonts, and the icon, of each page that is built from the design, and what the
 * style sheet contains after the tokens: the elements and tables of the documentation are those of its theme.
 */
const places = [
  { folder: portal, icon: portal, styles: ['base', 'controls', 'list'] },
  { folder: 'docs/.vitepress/theme/design', icon: 'docs/public', styles: ['controls'] },
  { folder: `${example}/design`, icon: example, styles: ['base', 'controls'] },
] as const

const fonts = ['sans.woff2', 'mono.woff2', 'OFL.txt'] as const

/** What each generated file must contain, by its path in the repository. */
export function copies(): ReadonlyMap<string, Buffer> {
  return new Map(
    places.flatMap(({ folder, icon, styles }) => [
      [`${folder}/design.css`, Buffer.from([tokens(), ...styles.map(readStyles)].join('\n'))],
      [`${icon}/icon.svg`, Buffer.from(mark)],
      ...fonts.map(
        (font) => [`${folder}/${font}`, readFileSync(join(import.meta.dirname, 'fonts', font))] as const,
      ),
    ]),
  )
}

function readStyles(name: string): string {
  return readFileSync(join(import.meta.dirname, 'styles', `${name}.css`), 'utf8')
}

/** The mark: a well with its water. It is the same in light and in dark. */
const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="8" fill="${palette.light.accent}" />
  <path d="M8 12h16M11 12v12h10V12M16 6v9" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" />
  <path d="M11 20h10v4H11z" fill="#8fe0d8" />
</svg>
`
