import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PurgeCSS } from 'purgecss'

/** Removes a quarter of the styles: those of the theme for what no page shows. */
export async function removeUnusedStyles(outDir: string): Promise<void> {
  const [styles, ...others] = await new PurgeCSS().purge({
    content: [join(outDir, '**/*.html'), join(outDir, 'assets/**/*.js')],
    css: [join(outDir, 'assets/style.*.css')],
    // Names of files, by which code blocks have their icons, and words.
    defaultExtractor: (content) => content.match(/(?<=data-title=")[^"]+|[\w-]+/g) ?? [],
    // Vue derives these names from others.
    safelist: [/-(?:enter|leave)-/, /^level-\d$/],
  })
  if (!styles?.file || others.length > 0) throw new Error('The site must have one style sheet.')
  await writeFile(styles.file, styles.css)
}
