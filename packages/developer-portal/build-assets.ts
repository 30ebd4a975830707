// Copies what the pages load from other packages: the portal is installed without those packages.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'

const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

await mkdir('dist/assets', { recursive: true })
await copyFile('node_modules/@knadh/oat/oat.min.css', 'dist/assets/oat.css')
await copyFile('node_modules/@knadh/oat/LICENSE', 'dist/assets/oat.LICENSE')
await copyFile('node_modules/@knadh/oat/css/01-theme.css', 'dist/assets/oat-theme.css')
const scalar = await readFile('node_modules/@scalar/api-reference/dist/browser/standalone.js')
await writeFile('dist/assets/scalar.js.br', brotliCompressSync(scalar, compression))
