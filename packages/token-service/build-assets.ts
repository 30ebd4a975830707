// Writes what the pages load from other packages: the portal is installed without those packages.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { ApiReference } from '@scalar/api-reference'
import { apiDescription } from './src/openapi/api-description.ts'
import { PurgeCSS } from 'purgecss'
import { createSSRApp, h } from 'vue'
import { renderToString } from 'vue/server-renderer'
import {
  describeForReference,
  formType,
  placeholderUrl,
  scalarOptions,
} from './src/portal/reference/describe-for-reference.ts'

const scalar = 'node_modules/@scalar/api-reference/dist'
const oat = 'node_modules/@knadh/oat'
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

await mkdir('dist/assets', { recursive: true })
await copyFile(`${oat}/oat.min.css`, 'dist/assets/oat.css')
await copyFile(`${oat}/LICENSE`, 'dist/assets/oat.LICENSE')
await copyFile(`${oat}/css/01-theme.css`, 'dist/assets/oat-theme.css')

const compress = async (name: string, content: string) =>
  writeFile(`dist/assets/${name}.br`, brotliCompressSync(content, compression))

await compress('scalar.js', await readFile(`${scalar}/browser/standalone.js`, 'utf8'))

// The API reference as it is before Scalar has been loaded. Examples of errors are not shown yet.
// On a server, Scalar renders only JSON request bodies.
const description = JSON.stringify(describeForReference(apiDescription(placeholderUrl, 'classic')))
const content = JSON.parse(description.replaceAll(`"${formType}"`, '"application/json"'))
const configuration = { ...scalarOptions, content }
const page = await renderToString(createSSRApp(() => h(ApiReference, { configuration })))
const [element = '', theme = ''] = /<style[^>]*>(.*?)<\/style>/s.exec(page) ?? []
const reference = page
  .replace(element, '')
  // Scalar removes them once it runs.
  .replaceAll(/<button aria-hidden="true".*?<\/button>/g, '')
  // So that links lead there: they name one description, IDs name it among several.
  .replaceAll(' id="api-1/', ' id="')
  .replaceAll(/(request-body-header.*?)application\/json/gs, `$1${formType}`)
await writeFile('dist/assets/reference.html', reference)

const styles = (await readFile(`${scalar}/style.css`, 'utf8')) + theme
await compress('scalar.css', styles)
// A quarter of Scalar's styles: matching the others costs a slow processor more than showing the page.
const [needed] = await new PurgeCSS().purge({
  content: [{ raw: reference.replaceAll('&gt;', '>').replaceAll('&amp;', '&'), extension: 'html' }],
  css: [{ raw: styles }],
  // Names of elements, and classes such as `p-0.5` and `[&>*]:me-0`.
  defaultExtractor: (markup) => [/[\w-]+/g, /[^\s"]+/g].flatMap((names) => markup.match(names) ?? []),
  safelist: ['light-mode', 'dark-mode'],
  keyframes: true,
})
// Chromium may style the page before the styles are there. With reduced motion, Scalar gives each property of each element
// a transition: all of them would start from that.
const still = '#reference *, #reference ::before, #reference ::after { transition: none !important; }'
await compress('scalar-rendered.css', (needed?.css ?? '') + still)
